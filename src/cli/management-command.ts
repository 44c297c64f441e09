import type { Command } from "commander";
import type { SignedOperationId } from "../auth/op-table.ts";
import { UserError } from "../lib/failure.ts";
import { printable } from "../lib/printable.ts";
import type { Parameters } from "./client/client.ts";
import type { CommandContext } from "./context.ts";
import { type CallOptions, openClient, withCallOptions } from "./management-options.ts";
import { memberOf, recordsTable, recordTable, responseJson } from "./management-table.ts";
import { print } from "./output.ts";

/** A kind of record that commands manage. */
export interface RecordKind {
  /** The member of a response with one record; with an `s`, the one with a list. */
  readonly noun: "app" | "webhook";
  readonly idKey: "app_id" | "webhook_id";
  /** The columns of `list`. */
  readonly listFields: readonly string[];
  readonly operations: {
    readonly list: SignedOperationId;
    readonly get: SignedOperationId;
    readonly delete: SignedOperationId;
    readonly rotate: SignedOperationId;
  };
}

/** Adds `list`, `get`, `delete` and `rotate` to the command of a kind of record. */
export function addRecordCommands(parent: Command, context: CommandContext, kind: RecordKind): void {
  const { noun, idKey, listFields, operations } = kind;
  const onRecord = (name: string, description: string) =>
    withCallOptions(parent.command(name).description(description).argument(`<${idKey}>`));

  withCallOptions(parent.command("list").description(`list the ${noun}s of the fid, oldest first`))
    .option("--reveal", "show the text of secrets")
    .action(async ({ reveal = false, ...options }: CallOptions & { reveal?: boolean }) => {
      const display = reveal ? "shown" : "masked";
      await callAndPrint(context, options, operations.list, {}, (response) =>
        recordsTable(memberOf(response, `${noun}s`), listFields, display),
      );
    });

  onRecord("get", `show one ${noun} of the fid, with its secrets`).action(
    async (id: string, options: CallOptions) => {
      await callForRecord(context, options, { kind, operation: operations.get, query: { [idKey]: id } });
    },
  );

  onRecord("delete", `delete one ${noun} of the fid`).action(async (id: string, options: CallOptions) => {
    const parameters = { query: { [idKey]: id } };
    await callAndPrint(context, options, operations.delete, parameters, () => `deleted ${printable(id)}\n`);
  });

  onRecord("rotate", "add a new secret; the present ones still work for the grace period").action(
    async (id: string, options: CallOptions) => {
      await callForRecord(context, options, { kind, operation: operations.rotate, query: { [idKey]: id } });
    },
  );
}

/** Sends a signed request and prints the record in its response. */
export async function callForRecord(
  context: CommandContext,
  options: CallOptions,
  request: Parameters & {
    readonly kind: RecordKind;
    readonly operation: SignedOperationId;
    readonly secrets?: "shown" | "masked";
  },
): Promise<void> {
  const { kind, operation, secrets = "shown", ...parameters } = request;
  await callAndPrint(context, options, operation, parameters, (response) =>
    recordTable(memberOf(response, kind.noun), secrets),
  );
}

/** Sends a signed request and prints the response as a table, or as JSON with `--json`. */
export async function callAndPrint(
  context: CommandContext,
  options: CallOptions,
  operation: SignedOperationId,
  parameters: Parameters,
  table: (response: unknown) => string,
): Promise<void> {
  const client = await openClient(context, options);
  const response = await client.call(operation, parameters);
  print(options.json ? responseJson(response) : table(response));
}

/** The fields of an update that were set. An update without fields is a mistake of the user. */
export function changesOf(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const changes = Object.entries(fields).filter(([, value]) => value !== undefined);
  if (changes.length === 0) {
    throw new UserError("nothing to change: set at least one field (see --help)");
  }
  return Object.fromEntries(changes);
}
