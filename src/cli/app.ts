import type { Command } from "commander";
import { UserError } from "../lib/failure.ts";
import type { CommandContext } from "./context.ts";
import {
  addRecordCommands,
  callAndPrint,
  callForRecord,
  changesOf,
  type RecordKind,
} from "./management-command.ts";
import {
  type CallOptions,
  collecting,
  type PageOptions,
  parseFid,
  parseFids,
  withCallOptions,
  withPageOptions,
} from "./management-options.ts";
import { memberOf, moreLine, recordsTable, recordTable } from "./management-table.ts";

const APPS: RecordKind = {
  noun: "app",
  idKey: "app_id",
  listFields: ["app_id", "name", "app_url", "send_secrets", "created_at"],
  operations: { list: "listApps", get: "getApp", delete: "deleteApp", rotate: "rotateAppSecret" },
};

interface AppFields {
  readonly name?: string;
  readonly appUrl?: string;
  /** False clears it. */
  readonly description?: string | false;
  readonly signerFidAllowlist?: readonly number[];
}

interface SendFields {
  readonly title?: string;
  readonly body?: string;
  readonly targetUrl?: string;
  readonly uuid?: string;
  readonly targetFids?: readonly number[];
  readonly excludeFids?: readonly number[];
  readonly followingFid?: number;
}

const NOTIFICATION_FLAGS = [
  ["--title <text>", "1 to 32 characters"],
  ["--body <text>", "1 to 128 characters"],
  ["--target-url <url>", "what it opens, on the host of the app"],
] as const;
const CLIENT_COLUMNS = ["client_fid", "host", "enabled", "disabled", "without_token"];
const DAY_COLUMNS = ["day", "enabled", "added", "removed", "disabled", "invalidated"];
const COUNT_COLUMNS = ["success_count", "failure_count", "not_attempted_count"];
const CAMPAIGN_COLUMNS = [
  "campaign_id",
  "status",
  "audience_count",
  ...COUNT_COLUMNS,
  "created_at",
  "completed_at",
];
const HOST_COLUMNS = ["host", ...COUNT_COLUMNS];

/** `app create|list|get|update|delete|rotate|audience|send|estimate|campaigns|campaign`: the mini apps of an fid, on any node. */
export function registerApp(program: Command, context: CommandContext): void {
  const app = program.command("app").description("manage the mini apps of an fid, on this or another node");

  withCallOptions(app.command("create").description("register a mini app; prints its id and send secret"))
    .requiredOption("--name <text>", "1 to 128 characters")
    .requiredOption("--app-url <url>", "canonical https URL of the mini app")
    .option("--description <text>", "what it is")
    .option(
      "--signer-fid-allowlist <fids>",
      "fids of the client apps whose events are accepted (default: all)",
      collecting(parseFids),
    )
    .action(
      async ({ name, appUrl, description, signerFidAllowlist, ...options }: CallOptions & AppFields) => {
        const body = { name, app_url: appUrl, description, signer_fid_allowlist: signerFidAllowlist };
        await callForRecord(context, options, { kind: APPS, operation: "createApp", body });
      },
    );

  withCallOptions(app.command("update").description("change the given fields of a mini app"))
    .argument("<app_id>")
    .option("--name <text>", "1 to 128 characters")
    .option("--app-url <url>", "canonical https URL of the mini app")
    .option("--description <text>", "what it is")
    .option("--no-description", "clear the description")
    .option(
      "--signer-fid-allowlist <fids>",
      'the complete new list; "" for all client apps',
      collecting(parseFids),
    )
    .action(async (id: string, input: CallOptions & AppFields) => {
      const { name, appUrl, description, signerFidAllowlist, ...options } = input;
      const changes = changesOf({
        name,
        app_url: appUrl,
        description: description === false ? null : description,
        signer_fid_allowlist: signerFidAllowlist,
      });
      const body = { app_id: id, ...changes };
      await callForRecord(context, options, { kind: APPS, operation: "updateApp", body, secrets: "masked" });
    });

  addRecordCommands(app, context, APPS);
  addAudience(app, context);
  addSends(app, context);
  addCampaigns(app, context);
}

function addAudience(app: Command, context: CommandContext): void {
  withCallOptions(app.command("audience").description("show whom a mini app can reach, and how it grew"))
    .argument("<app_id>")
    .option("--days <n>", "days of growth, 1 to 400 (default: 30)")
    .action(async (id: string, { days, ...options }: CallOptions & { days?: string }) => {
      const query = { app_id: id, ...(days !== undefined && { days }) };
      await callAndPrint(context, options, "getAppAudience", { query }, (response) =>
        [
          recordTable({ total: memberOf(response, "total") }, "shown"),
          recordsTable(memberOf(response, "clients"), CLIENT_COLUMNS, "shown"),
          recordsTable(memberOf(response, "days"), DAY_COLUMNS, "shown"),
        ].join("\n"),
      );
    });
}

function addSends(app: Command, context: CommandContext): void {
  withSend(
    app.command("send").description("send a notification to users of a mini app; prints its campaign"),
  ).action(async (id: string, input: CallOptions & SendFields) => {
    const { options, body } = sendOf(id, input);
    await callAndPrint(context, options, "sendCampaign", { body }, (response) =>
      recordTable(response, "shown"),
    );
  });

  withSend(app.command("estimate").description("count whom a send would reach; sends nothing")).action(
    async (id: string, input: CallOptions & SendFields) => {
      const { options, body } = sendOf(id, input);
      await callAndPrint(context, options, "estimateSend", { body }, (response) => {
        const { clients, ...counts } = Object(response);
        return [
          recordTable(counts, "shown"),
          recordsTable(clients, ["client_fid", "host", "tokens"], "shown"),
        ].join("\n");
      });
    },
  );
}

function addCampaigns(app: Command, context: CommandContext): void {
  withPageOptions(
    withCallOptions(
      app
        .command("campaigns")
        .description("list what was sent for a mini app in the last 30 days, newest first"),
    ),
  )
    .argument("<app_id>")
    .action(async (id: string, { limit, cursor, ...options }: CallOptions & PageOptions) => {
      const query = { app_id: id, limit, ...(cursor !== undefined && { cursor }) };
      await callAndPrint(
        context,
        options,
        "listAppCampaigns",
        { query },
        (response) =>
          recordsTable(memberOf(response, "campaigns"), CAMPAIGN_COLUMNS, "shown") + moreLine(response),
      );
    });

  withCallOptions(
    app.command("campaign").description("show how far a send has come: counts, and results by client host"),
  )
    .argument("<campaign_id>")
    .action(async (id: string, options: CallOptions) => {
      const query = { campaign_id: id };
      await callAndPrint(context, options, "getAppCampaign", { query }, (response) => {
        const { client_hosts: hosts, ...campaign } = Object(memberOf(response, "campaign"));
        return [recordTable(campaign, "shown"), recordsTable(hosts, HOST_COLUMNS, "shown")].join("\n");
      });
    });
}

/** Adds the options of a notification and its audience; an estimate needs no notification. */
function withSend(command: Command): Command {
  const isSend = command.name() === "send";
  withCallOptions(command).argument("<app_id>");
  for (const [flag, what] of NOTIFICATION_FLAGS)
    if (isSend) command.requiredOption(flag, what);
    else command.option(flag, what);
  return command
    .option("--uuid <uuid>", "its id: a user gets one notification of an id")
    .option("--target-fids <fids>", "only these users (default: all)", collecting(parseFids))
    .option("--exclude-fids <fids>", "without these users", collecting(parseFids))
    .option("--following-fid <n>", "only followers of this fid", parseFid);
}

function sendOf(id: string, input: CallOptions & SendFields) {
  const { title, body, targetUrl, uuid, targetFids, excludeFids, followingFid, ...options } = input;
  // An empty list means everybody for the service, and a mistake here.
  if (targetFids?.length === 0) throw new UserError("--target-fids has no fid; leave it out for all users");
  const isNotified = title !== undefined;
  return {
    options,
    body: {
      app_id: id,
      ...(isNotified && { notification: { title, body, target_url: targetUrl, uuid } }),
      target_fids: targetFids,
      exclude_fids: excludeFids,
      following_fid: followingFid,
    },
  };
}
