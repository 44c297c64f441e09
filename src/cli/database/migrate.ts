import type { Command } from "commander";
import type { UpgradeReport } from "../../db/index/upgrade/upgrade-index.ts";
import { grouped } from "../../runtime/progress-line.ts";
import type { CommandContext } from "../context.ts";
import { print } from "../output.ts";

interface MigrateOptions {
  readonly verify?: boolean;
  readonly newState?: boolean;
  readonly dropOld?: boolean;
}

/** `migrate`: migrates the databases without serving; `--verify` checks both for damage. */
export function registerMigrate(program: Command, context: CommandContext): void {
  program
    .command("migrate")
    .description("migrate the databases of the data directory")
    .option(
      "--verify",
      "also check the pages of both files, the invariants of the state and the derived tables of the index; exit 1 on an error",
    )
    .option("--new-state", "create an empty state.db although the index has data: the old state is lost")
    .option(
      "--drop-old",
      "delete the file of an older format at once, not at the first clean stop of the node",
    )
    .action(async ({ verify = false, newState = false, dropOld = false }: MigrateOptions) => {
      const { createCommon, openTaskDataDir, runTask } = await import("../common.ts");
      const { indexPath, openIndexWriter } = await import("../../db/index/database.ts");
      const { claimNetwork, mayLackState } = await import("../../db/index/identity.ts");
      const { isBulkBuilding } = await import("../../db/index/bulk/bulk-state.ts");
      const { verifyIndex } = await import("../../db/index/verify/verify.ts");
      const { openState, statePath } = await import("../../db/state/database.ts");
      const { migratePostgres } = await import("../../db/postgres/migrate.ts");
      const { postgresSettings } = await import("../../node/state/postgres/postgres-settings.ts");
      const { migrateIndex } = await import("../../node/start/migrate-index.ts");
      const { verifyState } = await import("../../node/state/verify.ts");
      const { UserError } = await import("../../lib/failure.ts");
      const { recoveryOf } = await import("../../db/sqlite/storage-error.ts");
      const common = createCommon(context);
      context.exitCode = await runTask(common, async () => {
        const dataDir = openTaskDataDir(common);
        const path = indexPath(dataDir.path);
        const report = await migrateIndex(common, dataDir.path, { always: true, dropOld });
        if (report) print(migrated(report, path, dropOld));
        const index = openIndexWriter(path);
        common.shutdown.add("index", () => index[Symbol.dispose]());
        claimNetwork(index, common.config.protocol.network);
        index.checkpoint();
        print(`The index is up to date: ${path}\n`);
        const postgres = postgresSettings(common.config);
        if (postgres) await migratePostgres(postgres);
        const state = postgres
          ? undefined
          : openState(statePath(dataDir.path), { mayCreate: newState || mayLackState(index) });
        common.shutdown.add("state", () => state?.[Symbol.dispose]());
        state?.checkpoint();
        print(`The state is up to date: ${state?.file ?? `schema ${postgres?.schema} of PostgreSQL`}\n`);
        if (!verify) return;
        if (isBulkBuilding(index))
          throw new UserError(
            "the index is not filled yet, so there is nothing to verify: start the node, or repeat the import, which continues filling it",
          );

        for (const db of state ? [index, state] : [index]) {
          const damage = db.damage();
          if (damage.length > 0)
            throw new UserError(`${db.file} is damaged:\n${listOf(damage)}\n${recoveryOf(db)}.`);
          print(`No damage in the pages of ${db.file}\n`);
        }
        const wrong = state ? verifyState(state) : [];
        if (state && wrong.length === 0) print("The state satisfies its invariants.\n");
        const differences = verifyIndex(path);
        if (differences.length === 0) print("Every derived table equals a recount from the messages.\n");
        const findings = [
          ...wrong.map(({ what, rows }) => `state: ${what} (${rows})`),
          ...differences.map(
            ({ table, missing, extra }) =>
              `index: ${table} differs from a recount (${missing} missing, ${extra} extra)`,
          ),
        ];
        if (findings.length > 0) throw new UserError(`these rows are wrong:\n${listOf(findings)}`);
      });
    });
}

function migrated(report: UpgradeReport, path: string, isOldDropped: boolean): string {
  const { messages, olderBytes, bytes, differences } = report;
  const lines = [
    `The index was built again in the current format: ${grouped(messages)} messages, ${grouped(olderBytes / 1e6)} MB became ${grouped(bytes / 1e6)} MB.`,
    ...differences.map(
      ({ table, before, after }) =>
        `  ${table} had ${grouped(before)} rows and has ${grouped(after)}: the older file was wrong`,
    ),
  ];
  if (!isOldDropped)
    lines.push(
      `The older file is ${path}.old until the node has run and stopped cleanly; --drop-old deletes it at once.`,
    );
  return `${lines.join("\n")}\n`;
}

function listOf(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`).join("\n");
}
