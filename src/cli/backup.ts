import type { Command } from "commander";
import type { CommandContext } from "./context.ts";
import { print } from "./output.ts";

/** Why a command of a node with `state.url` does not copy the state. */
export const STATE_IN_POSTGRES =
  "the state is in PostgreSQL (state.url): back it up with the tools of PostgreSQL";

/** `backup`: makes a verified backup of a running or stopped node, and deletes old ones. */
export function registerBackup(program: Command, context: CommandContext): void {
  program
    .command("backup")
    .description(
      "make a verified backup of a running or stopped node, and delete the oldest beyond backup.keep",
    )
    .argument("[dir]", "directory of backups; default: backup.dir")
    .option("--state-only", "leave the index, which can be filled again")
    .action(async (dir: string | undefined, { stateOnly = false }: { stateOnly?: boolean }) => {
      const { createCommon, runTask } = await import("./common.ts");
      const { UserError } = await import("../lib/failure.ts");
      const { makeBackup } = await import("../node/snapshot/backup.ts");
      const { startSnapshotProgress, summaryOf } = await import("./snapshot-output.ts");
      const common = createCommon(context);
      const { config, clock, shutdown } = common;
      context.exitCode = await runTask(common, async () => {
        const root = dir ?? config.backup.dir;
        if (root === "") throw new UserError("name a directory of backups, or set backup.dir");
        const isInPostgres = config.state.url !== "";
        if (isInPostgres && stateOnly) throw new UserError(STATE_IN_POSTGRES);
        const kind = isInPostgres ? "index" : stateOnly ? "state" : "whole";
        const progress = startSnapshotProgress(common);
        const { path, manifest, deleted } = await makeBackup({
          config,
          root,
          kind,
          clock,
          signal: shutdown.signal,
          onProgress: progress.update,
        });
        progress.finish();
        print(`${path}\n${summaryOf(manifest)}${deleted.map((old) => `Deleted ${old}\n`).join("")}`);
      });
    });
}
