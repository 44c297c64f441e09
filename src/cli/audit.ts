import type { Command } from "commander";
import type { CommandContext } from "./context.ts";
import { callAndPrint } from "./management-command.ts";
import {
  type CallOptions,
  type PageOptions,
  withCallOptions,
  withPageOptions,
} from "./management-options.ts";
import { memberOf, moreLine, recordsTable } from "./management-table.ts";

const FIELDS = [
  "at",
  "action",
  "outcome",
  "fid",
  "api_key_id",
  "signer_uuid",
  "hash",
  "record_id",
  "address",
  "request_id",
];

/** `audit`: the audit log of an fid, on any node. */
export function registerAudit(program: Command, context: CommandContext): void {
  withPageOptions(
    withCallOptions(
      program
        .command("audit")
        .description("list what was changed and signed for the fid in the last 400 days, newest first"),
    ).option("--records", "changes of mini apps and webhooks alone"),
  ).action(
    async ({ limit, cursor, records, ...options }: CallOptions & PageOptions & { records?: boolean }) => {
      const query = { limit, ...(cursor !== undefined && { cursor }), ...(records && { of: "records" }) };
      await callAndPrint(
        context,
        options,
        "listAuditEntries",
        { query },
        (response) => recordsTable(memberOf(response, "entries"), FIELDS, "masked") + moreLine(response),
      );
    },
  );
}
