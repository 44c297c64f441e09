import { hostname } from "node:os";
import { Argument, type Command, Option } from "commander";
import { PAUSABLE, type Pausable, type SwitchStore } from "../../cluster/switch-store.ts";
import type { PgPool } from "../../db/postgres/pool.ts";
import type { PgSettings } from "../../db/postgres/pools.ts";
import type { StateDb } from "../../db/state/state-db.ts";
import type { RestoredKeys } from "../../node/snapshot/restored-keys.ts";
import type { StateFinding } from "../../node/state/verify.ts";
import type { StateCopyReport } from "../../node/state-copy/state-copy.ts";
import type { Common } from "../../runtime/common.ts";
import type { CommandContext } from "../context.ts";
import { print } from "../output.ts";

const MAX_REASON_CHARS = 200;
const MAX_NAME_CHARS = 100;

const what = () => new Argument("<what...>", "what to pause").choices([...PAUSABLE, "all"]);

/** `state copy|pause|resume`: stops and continues parts of the service, on all nodes. */
export function registerState(program: Command, context: CommandContext): void {
  const state = program.command("state").description("work on the state while nodes run");

  registerStateCheck(state, context);
  registerStateCopy(state, context);
  registerStateMigrate(state, context);

  state
    .command("pause")
    .description("pause parts of the service on all nodes, within 3 seconds and until they are resumed")
    .addArgument(what())
    .requiredOption("--reason <text>", "why, for /status")
    .action(async (names: string[], { reason }: { reason: string }) => {
      const { nowSecs } = await import("../../runtime/clock.ts");
      const { UserError } = await import("../../lib/failure.ts");
      if (!/^[^\p{Cc}]+$/u.test(reason) || reason.length > MAX_REASON_CHARS)
        throw new UserError(
          `--reason must have 1 to ${MAX_REASON_CHARS} characters, without control characters`,
        );
      await onSwitches(context, async (switches, { clock }) => {
        const paused = pausableOf(names);
        await switches.pause(paused, { reason, pausedBy: commandUser(), pausedAt: nowSecs(clock) });
        print(`paused: ${paused.join(", ")}\n`);
      });
    });

  state
    .command("resume")
    .description("continue what was paused")
    .addArgument(what())
    .action(async (names: string[]) => {
      await onSwitches(context, async (switches) => {
        const resumed = await switches.resume(pausableOf(names));
        print(resumed.length === 0 ? "nothing was paused\n" : `resumed: ${resumed.join(", ")}\n`);
      });
    });
}

/** Returns who runs the command, such as `ann@host`; a number if the environment has no name. */
export function commandUser(): string {
  const name = process.env.SUDO_USER ?? process.env.USER ?? `uid-${process.getuid?.() ?? "unknown"}`;
  return `${name}@${hostname()}`.replace(/[^\w.@-]/g, "?").slice(0, MAX_NAME_CHARS);
}

function pausableOf(names: readonly string[]): readonly Pausable[] {
  return PAUSABLE.filter((name) => names.includes(name) || names.includes("all"));
}

/** Runs `work` on the switches of the state. */
async function onSwitches(
  context: CommandContext,
  work: (switches: SwitchStore, common: Common) => Promise<void>,
): Promise<void> {
  const { createSwitches } = await import("../../cluster/switch-store.ts");
  await onState(context, (db, common) => work(createSwitches(db), common));
}

/** Runs a command's `work` on the state, whether or not a node is running. */
export async function onState(
  context: CommandContext,
  work: (db: StateDb, common: Common) => Promise<void>,
): Promise<void> {
  const { createCommon, runTask } = await import("../common.ts");
  const { postgresSettings } = await import("../../node/state/postgres/postgres-settings.ts");
  const common = createCommon(context);
  context.exitCode = await runTask(common, async () => {
    const settings = postgresSettings(common.config);
    if (settings) {
      const { postgresTaskDb } = await import("../../db/postgres/state-db.ts");
      return onPostgresState(settings, common, (pool) => work(postgresTaskDb(pool), common));
    }
    const { openState, statePath } = await import("../../db/state/database.ts");
    const { taskStateDb } = await import("../../db/state/sqlite-state-db.ts");
    using db = openState(statePath(common.config.data.dir), { mayCreate: false });
    await work(taskStateDb(db), common);
  });
}

/** `state migrate`: brings the schema in PostgreSQL up to date, for nodes with `state.migrate = false`. */
function registerStateMigrate(state: Command, context: CommandContext): void {
  state
    .command("migrate")
    .description("bring the schema of the state in PostgreSQL up to date, while nodes run")
    .action(async () => {
      const { createCommon, runTask } = await import("../common.ts");
      const { migratePostgres } = await import("../../db/postgres/migrate.ts");
      const { UserError } = await import("../../lib/failure.ts");
      const { postgresSettings } = await import("../../node/state/postgres/postgres-settings.ts");
      const common = createCommon(context);
      context.exitCode = await runTask(common, async () => {
        const settings = postgresSettings(common.config);
        if (!settings) throw new UserError("state.url is empty: `svc migrate` migrates state.db");
        const { applied } = await migratePostgres(settings);
        print(
          applied === 0 ? "The schema is up to date\n" : `The schema was brought up to date (${applied})\n`,
        );
      });
    });
}

/** Runs a command's `work` on the state in PostgreSQL, whether or not nodes are running. The schema is not changed. */
export async function onPostgresState<T>(
  settings: PgSettings,
  { config, log }: Pick<Common, "config" | "log">,
  work: (pool: PgPool) => Promise<T>,
): Promise<T> {
  const { openPgPools } = await import("../../db/postgres/pools.ts");
  const { migratePostgres } = await import("../../db/postgres/migrate.ts");
  // Reports connection problems in words, and refuses an older schema.
  await migratePostgres(settings, { may: false });
  await using pools = openPgPools({
    settings,
    applicationName: `${config.service.name}/command`,
    connections: { main: 1 },
    log,
  });
  return await work(pools.main);
}

/** `state check`: verifies totals and counters of the state; `--restored` makes a restored one safe to use. */
function registerStateCheck(state: Command, context: CommandContext): void {
  state
    .command("check")
    .description("recount the totals and counters of the state; exit 1 on a difference")
    .option(
      "--restored",
      "after a restore by other tools: refuse earlier requests, end leases, correct counters. The nodes must be stopped",
    )
    .action(async ({ restored = false }: { restored?: boolean }) => {
      const { createCommon, runTask } = await import("../common.ts");
      const { migratePostgres } = await import("../../db/postgres/migrate.ts");
      const { UserError } = await import("../../lib/failure.ts");
      const { postgresSettings } = await import("../../node/state/postgres/postgres-settings.ts");
      const { checkPostgresState, settlePostgresState } = await import(
        "../../node/state-check/postgres-check.ts"
      );
      const { checkSqliteState, settleSqliteState } = await import("../../node/state-check/sqlite-check.ts");
      const { restoredKeysText, restoredPostgresKeys, restoredSqliteKeys } = await import(
        "../../node/snapshot/restored-keys.ts"
      );
      const { nowSecs } = await import("../../runtime/clock.ts");
      const { openTaskDataDir } = await import("../common.ts");
      const common = createCommon(context);
      const { config, clock } = common;
      context.exitCode = await runTask(common, async () => {
        const nonceFloor = nowSecs(clock) + config.auth.signed_at_window_secs;
        const postgres = postgresSettings(config);
        let findings: readonly StateFinding[];
        let keys: RestoredKeys | undefined;
        if (postgres) {
          // Checking the wrong database or schema must not create an empty state and report it as intact.
          await migratePostgres(postgres, { may: false });
          if (restored) await settlePostgresState(postgres, { nonceFloor });
          findings = await checkPostgresState(postgres);
          if (restored) keys = await restoredPostgresKeys(postgres);
        } else if (restored) {
          const dataDir = openTaskDataDir(common);
          findings = settleSqliteState(dataDir.path, { nonceFloor });
          keys = restoredSqliteKeys(dataDir.path);
        } else {
          findings = checkSqliteState(config.data.dir);
        }
        if (keys) print(`${SETTLED}${restoredKeysText(keys)}`);
        if (findings.length > 0)
          throw new UserError(
            `the state contradicts itself:\n${findings.map(({ what, rows }) => `  ${what} (${rows})`).join("\n")}`,
          );
        print("The state satisfies its invariants.\n");
      });
    });
}

const SETTLED = `Requests that were signed before now are refused, leases and runs have ended, and counters were counted again.
`;

interface CopyOptions {
  readonly to: "postgres" | "sqlite";
  readonly dryRun?: boolean;
  readonly force?: boolean;
}

/** `state copy`: moves the state between state.db and PostgreSQL. */
function registerStateCopy(state: Command, context: CommandContext): void {
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
