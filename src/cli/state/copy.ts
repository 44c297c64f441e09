import { type Command, Option } from "commander";
import type { StateCopyReport } from "../../node/state-copy/state-copy.ts";
import type { CommandContext } from "../context.ts";
import { print } from "../output.ts";

interface CopyOptions {
  readonly to: "postgres" | "sqlite";
  readonly dryRun?: boolean;
  readonly force?: boolean;
}

/** `state copy`: moves the state between state.db and PostgreSQL. */
export function registerStateCopy(state: Command, context: CommandContext): void {
  state
    .command("copy")
    .description(
      "move the state between state.db and PostgreSQL (state.url), compared row by row. The nodes must be stopped",
    )
    .addOption(
      new Option("--to <database>", "where to").choices(["postgres", "sqlite"]).makeOptionMandatory(),
    )
    .option("--dry-run", "copy and compare, and keep nothing")
    .option("--force", "from PostgreSQL while nodes are alive, of which everything is paused")
    .action(async ({ to, dryRun = false, force = false }: CopyOptions) => {
      const { createCommon, openTaskDataDir, runTask } = await import("../common.ts");
      const { migratePostgres } = await import("../../db/postgres/migrate.ts");
      const { statePath } = await import("../../db/state/database.ts");
      const { UserError } = await import("../../lib/failure.ts");
      const { postgresSettings } = await import("../../node/state/postgres/postgres-settings.ts");
      const { copyToPostgres } = await import("../../node/state-copy/copy-to-postgres.ts");
      const { copyToSqlite } = await import("../../node/state-copy/copy-to-sqlite.ts");
      const common = createCommon(context);
      const { config, clock, shutdown } = common;
      context.exitCode = await runTask(common, async () => {
        const postgres = postgresSettings(config);
        if (!postgres) throw new UserError("set state.url to the PostgreSQL database of the copy");
        const dataDir = openTaskDataDir(common);
        await migratePostgres(postgres, { may: config.state.migrate, mayBeMoved: true });
        const { host, port, socketPath, database } = postgres.connect;
        const options = {
          file: statePath(dataDir.path),
          postgres,
          postgresName: `PostgreSQL, ${socketPath ?? `${host}:${port}`}/${database}, schema ${postgres.schema}`,
          dryRun,
          signedAtWindowSecs: config.auth.signed_at_window_secs,
          clock,
          signal: shutdown.signal,
        };
        const startedMs = performance.now();
        const report =
          to === "postgres" ? await copyToPostgres(options) : await copyToSqlite({ ...options, force });
        print(describe(report, { to, dryRun, secs: (performance.now() - startedMs) / 1000 }));
      });
    });
}

function describe(
  { tables, nuls, wasThere }: StateCopyReport,
  { to, dryRun, secs }: { to: CopyOptions["to"]; dryRun: boolean; secs: number },
): string {
  const width = Math.max(...tables.map(({ table }) => table.length));
  const lines = tables.map(
    ({ table, rows, bytes, sha256 }) =>
      `${table.padEnd(width)}  ${String(rows).padStart(10)} rows  ${String(bytes).padStart(12)} bytes  ${sha256}`,
  );
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  lines.push(`${rows} rows in ${secs.toFixed(1)} s; every table was read back and is equal`);
  if (nuls > 0) lines.push(`${nuls} NUL characters became U+FFFD, because PostgreSQL cannot store them`);
  if (wasThere) lines.push("The rows were there already, from a copy that was interrupted at its end");
  lines.push(dryRun ? "Nothing was kept (--dry-run)" : NEXT[to]);
  return `${lines.join("\n")}\n`;
}

const NEXT = {
  postgres: "state.db is not to be used any more: start the nodes with state.url",
  sqlite: "The state in PostgreSQL is not to be used any more: start one node, without state.url",
} as const;
