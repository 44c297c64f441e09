import { type Command, InvalidArgumentError } from "commander";
import type { SignedOperationId } from "../auth/op-table.ts";
import { itemsOf } from "../lib/list-text.ts";
import { printable } from "../lib/printable.ts";
import type { Parameters } from "./client/client.ts";
import type { CommandContext } from "./context.ts";
import { callAndPrint, changesOf } from "./management-command.ts";
import { type CallOptions, collecting, openClient, withCallOptions } from "./management-options.ts";
import { memberOf, recordsTable, recordTable, responseJson } from "./management-table.ts";
import { print, printError } from "./output.ts";

const LIST_FIELDS = ["api_key_id", "name", "prefix", "scopes", "active", "expires_at", "last_used_at"];
const USAGE_FIELDS = ["day", "route", "requests", "units", "writes", "errors", "limited"];

interface KeyFields {
  readonly name?: string;
  readonly scopes?: readonly string[];
  /** False clears it. */
  readonly app?: string | false;
  readonly expiresAt?: number | false;
  readonly unitsPerMinute?: number | false;
  readonly writesPerMinute?: number | false;
}

/** `api-key create|list|get|update|delete|rotate|usage`: the API keys of an fid, on any node. */
export function registerApiKey(program: Command, context: CommandContext): void {
  const keys = program
    .command("api-key")
    .description("manage the API keys of an fid, on this or another node");
  const onKey = (name: string, description: string) =>
    withCallOptions(keys.command(name).description(description).argument("<api_key_id>"));
  const show = (options: CallOptions, operation: SignedOperationId, parameters: Parameters) =>
    callAndPrint(context, options, operation, parameters, (response) => keyTable(response));

  withFields(
    withCallOptions(
      keys.command("create").description("create an API key; prints its text, which is shown once"),
    ),
  ).action(async ({ name, scopes, ...input }: CallOptions & KeyFields) => {
    const body = { name, scopes, ...optionalFields(input) };
    await printSecret(context, input, "createApiKey", { body });
  });

  withCallOptions(keys.command("list").description("list the API keys of the fid, oldest first")).action(
    async (options: CallOptions) => {
      await callAndPrint(context, options, "listApiKeys", {}, (response) =>
        recordsTable(memberOf(response, "api_keys"), LIST_FIELDS, "masked"),
      );
    },
  );

  onKey("get", "show one API key of the fid").action((id: string, options: CallOptions) =>
    show(options, "getApiKey", { query: { api_key_id: id } }),
  );

  withFields(onKey("update", "change the given fields of an API key"))
    .option("--no-app", "act for the only app of the owner")
    .option("--no-expires-at", "never expire")
    .option("--no-units-per-minute", "the operator's limit")
    .option("--no-writes-per-minute", "the operator's limit")
    .option("--activate", "accept it, also after a transfer of the fid")
    .option("--deactivate", "refuse it from now on")
    .action(
      async (id: string, input: CallOptions & KeyFields & { activate?: boolean; deactivate?: boolean }) => {
        const { name, scopes, activate, deactivate } = input;
        const active = activate ? true : deactivate ? false : undefined;
        const changes = changesOf({ name, scopes, active, ...optionalFields(input) });
        await show(input, "updateApiKey", { body: { api_key_id: id, ...changes } });
      },
    );

  onKey("delete", "delete one API key of the fid").action(async (id: string, options: CallOptions) => {
    const parameters = { query: { api_key_id: id } };
    await callAndPrint(context, options, "deleteApiKey", parameters, () => `deleted ${printable(id)}\n`);
  });

  onKey("rotate", "add a new secret, which is shown once; the present ones still work for the grace period")
    .option("--grace-secs <n>", "seconds for which they still work; 0: not at all", parseCount)
    .action(async (id: string, { graceSecs, ...options }: CallOptions & { graceSecs?: number }) => {
      const grace = graceSecs === undefined ? {} : { grace_secs: graceSecs };
      await printSecret(context, options, "rotateApiKeySecret", { body: { api_key_id: id, ...grace } });
    });

  onKey("usage", "show what an API key was used for, by UTC day and route")
    .option("--from <day>", "first day, as in 2026-11-22 (default: the last day)")
    .option("--to <day>", "last day (default: today)")
    .action(async (id: string, { from, to, ...options }: CallOptions & { from?: string; to?: string }) => {
      const query = { api_key_id: id, ...(from && { from }), ...(to && { to }) };
      await callAndPrint(context, options, "getApiKeyUsage", { query }, (response) =>
        recordsTable(memberOf(response, "usage"), USAGE_FIELDS, "masked"),
      );
    });
}

function withFields(command: Command): Command {
  const isCreate = command.name() === "create";
  const name = ["--name <text>", "1 to 128 characters"] as const;
  const scopes = [
    "--scopes <scopes>",
    "read, write, signers, webhooks, apps, push",
    collecting(itemsOf),
  ] as const;
  return (isCreate ? command.requiredOption(...name) : command.option(...name))
    .option(scopes[0], scopes[1], scopes[2])
    .option("--app <app_id>", "the mini app to send for, if the owner has several")
    .option("--expires-at <secs>", "unix seconds", parseCount)
    .option("--units-per-minute <n>", "at most the operator's limit", parseCount)
    .option("--writes-per-minute <n>", "at most the operator's limit", parseCount);
}

function optionalFields({ app, expiresAt, unitsPerMinute, writesPerMinute }: KeyFields) {
  const nullIfFalse = <T>(value: T | false | undefined) => (value === false ? null : value);
  return {
    app_id: nullIfFalse(app),
    expires_at: nullIfFalse(expiresAt),
    units_per_minute: nullIfFalse(unitsPerMinute),
    writes_per_minute: nullIfFalse(writesPerMinute),
  };
}

/** Prints the text of a key to standard output, and its record to standard error; with `--json` both as one object. */
async function printSecret(
  context: CommandContext,
  options: CallOptions,
  operation: SignedOperationId,
  parameters: Parameters,
): Promise<void> {
  const client = await openClient(context, options);
  const response = await client.call(operation, parameters);
  if (options.json) {
    print(responseJson(response));
    return;
  }
  printError(`${keyTable(response)}\nThe text of the key is shown this once:\n`);
  print(`${String(memberOf(response, "secret"))}\n`);
}

function keyTable(response: unknown): string {
  const { secrets, ...record } = memberOf(response, "api_key") as { readonly secrets: readonly unknown[] };
  return recordTable({ ...record, secrets: secrets.length }, "masked");
}

function parseCount(text: string): number {
  const count = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(count)) throw new InvalidArgumentError("It is a whole number.");
  return count;
}
