import type { Command } from "commander";
import type { CommandContext } from "./context.ts";
import { addRecordCommands, callForRecord, changesOf, type RecordKind } from "./management-command.ts";
import { type CallOptions, collecting, parseFids, withCallOptions } from "./management-options.ts";

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

/** `app create|list|get|update|delete|rotate`: the mini apps of an fid, on any node. */
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
}
