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
import { type CallOptions, collecting, parseFid, parseFids, withCallOptions } from "./management-options.ts";
import { memberOf, recordsTable, recordTable } from "./management-table.ts";

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

const CLIENT_COLUMNS = ["client_fid", "host", "enabled", "disabled", "without_token"];
const DAY_COLUMNS = ["day", "enabled", "added", "removed", "disabled", "invalidated"];

/** `app create|list|get|update|delete|rotate|audience|send|estimate`: the mini apps of an fid, on any node. */
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
  withAudience(
    withCallOptions(
      app.command("send").description("send a notification to users of a mini app; prints its campaign"),
    )
      .argument("<app_id>")
      .requiredOption("--title <text>", "1 to 32 characters")
      .requiredOption("--body <text>", "1 to 128 characters")
      .requiredOption("--target-url <url>", "what it opens, on the host of the app")
      .option("--uuid <uuid>", "its id: a user gets one notification of an id"),
  ).action(async (id: string, input: CallOptions & SendFields) => {
    const { options, body } = sendOf(id, input);
    await callAndPrint(context, options, "sendCampaign", { body }, (response) =>
      recordTable(response, "shown"),
    );
  });

  withAudience(
    withCallOptions(
      app.command("estimate").description("count whom a send would reach; sends nothing"),
    ).argument("<app_id>"),
  ).action(async (id: string, input: CallOptions & SendFields) => {
    const { options, body } = sendOf(id, input);
    await callAndPrint(context, options, "estimateSend", { body }, (response) => {
      const { clients, ...counts } = Object(response);
      return [
        recordTable(counts, "shown"),
        recordsTable(clients, ["client_fid", "host", "tokens"], "shown"),
      ].join("\n");
    });
  });
}

function withAudience(command: Command): Command {
  return command
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
