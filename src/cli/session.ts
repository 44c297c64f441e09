import type { Command } from "commander";
import { UserError } from "../lib/failure.ts";
import type { CommandContext } from "./context.ts";
import { callAndPrint } from "./management-command.ts";
import { type CallOptions, withCallOptions } from "./management-options.ts";
import { memberOf, recordsTable } from "./management-table.ts";

const LIST_FIELDS = ["session_id", "access", "label", "origin", "created_at", "expires_at", "last_used_at"];

/** `session list|end`: the sessions of an fid, on any node. Pages create them. */
export function registerSession(program: Command, context: CommandContext): void {
  const session = program
    .command("session")
    .description("sessions of an fid: keys of pages that sign requests for a while");

  withCallOptions(
    session.command("list").description("list the live sessions of the fid, newest first"),
  ).action(async (options: CallOptions) => {
    await callAndPrint(context, options, "listSessions", {}, (response) =>
      recordsTable(memberOf(response, "sessions"), LIST_FIELDS, "masked"),
    );
  });

  withCallOptions(
    session.command("end").description("end one session of the fid, or all").argument("[session_id]"),
  )
    .option("--all", "all of the fid")
    .action(async (id: string | undefined, { all = false, ...options }: CallOptions & { all?: boolean }) => {
      if (all === (id !== undefined)) throw new UserError("give either a session_id or --all");
      const query: Record<string, string> = id === undefined ? { all: "true" } : { session_id: id };
      await callAndPrint(context, options, "deleteSession", { query }, () => "ended\n");
    });
}
