import type { Command } from "commander";
import type { CommandContext } from "./context.ts";
import { print } from "./output.ts";

/** `migrate`: brings the databases up to date without serving; `--verify` recounts what is derived. */
export function registerMigrate(program: Command, context: CommandContext): void {
  program
    .command("migrate")
    .description("bring the databases of the data directory up to date")
    .option("--verify", "also make every derived table again and compare; exit 1 when they differ")
    .action(async ({ verify = false }: { verify?: boolean }) => {
      const { createCommon, runTask } = await import("./common.ts");
      const { openDataDir } = await import("../process/data-dir.ts");
      const { indexPath, openIndexWriter } = await import("../index/database.ts");
      const { claimNetwork } = await import("../index/identity.ts");
      const { verifyIndex } = await import("../index/verify.ts");
      const { openState, statePath } = await import("../state/database.ts");
      const { UserError } = await import("../lib/failure.ts");
      const common = createCommon(context);
      context.exitCode = await runTask(common, async () => {
        const dataDir = openDataDir(common.config.data.dir);
        common.shutdown.add("data directory", () => dataDir.release());
        const path = indexPath(dataDir.path);
        const db = openIndexWriter(path);
        claimNetwork(db, common.config.protocol.network);
        db.checkpoint();
        db[Symbol.dispose]();
        print(`The index is up to date: ${path}\n`);
        openState(statePath(dataDir.path))[Symbol.dispose]();
        print(`The state is up to date: ${statePath(dataDir.path)}\n`);
        if (!verify) return;
        const differences = verifyIndex(path);
        if (differences.length === 0)
          return print("Every derived table equals a recount from the messages.\n");
        const lines = differences.map((d) => `  ${d.table}: ${d.missing} missing, ${d.extra} extra`);
        throw new UserError(`derived tables differ from a recount (rows):\n${lines.join("\n")}`);
      });
    });
}
