import type { Command } from "commander";
import type { NodeRow } from "../../cluster/postgres/node-rows.ts";
import type { PgPool } from "../../db/postgres/pool.ts";
import type { CommandContext } from "../context.ts";
import { print } from "../output.ts";

/** `nodes [remove]`: the nodes that share a state in PostgreSQL. */
export function registerNodes(program: Command, context: CommandContext): void {
  const nodes = program
    .command("nodes")
    .description("list the nodes that share the state, and what differs between them")
    .option("--json", "print JSON")
    .action(async ({ json = false }: { json?: boolean }) => {
      await onNodes(context, async (pool) => {
        const { listNodes } = await import("../../cluster/postgres/node-rows.ts");
        const { createSwitches } = await import("../../cluster/switch-store.ts");
        const { postgresTaskDb } = await import("../../db/postgres/state-db.ts");
        const rows = (await pool.all(listNodes)).map(shown);
        const differing = await differences(pool);
        const switches = await createSwitches(postgresTaskDb(pool)).list();
        if (json) {
          const paused = switches.map(({ name, reason, pausedBy, pausedAt }) => ({
            name,
            reason,
            paused_by: pausedBy,
            paused_at: pausedAt,
          }));
          print(
            `${JSON.stringify({ nodes: rows, differing_settings: differing, switches: paused }, null, 2)}\n`,
          );
          return;
        }
        print(table(rows));
        for (const key of differing) print(`differs: ${key}\n`);
        for (const { name, reason, pausedBy, pausedAt } of switches)
          print(`paused: ${name} by ${pausedBy} since ${timeOf(pausedAt)}: ${reason}\n`);
      });
    });

  nodes
    .command("remove")
    .description("forget a node that has ended; its slot is then free")
    .argument("<id>", "its node.id")
    .action(async (id: string) => {
      await onNodes(context, async (pool) => {
        const { removeEnded } = await import("../../cluster/postgres/node-rows.ts");
        const { UserError } = await import("../../lib/failure.ts");
        if ((await pool.run(removeEnded, id)) === 0)
          throw new UserError(`no node ${JSON.stringify(id)} has ended: it is alive, or there is none`);
        print(`removed: ${id}\n`);
      });
    });
}

function shown(row: NodeRow) {
  return {
    node: row.nodeId,
    slot: row.slot,
    alive: row.isLive,
    version: row.version,
    schema: row.schemaVersion,
    solo: row.solo,
    started_at: row.startedAt,
    live_since: row.liveSince,
    positions: row.positions === null ? null : (JSON.parse(row.positions) as unknown),
  };
}

/** Returns the settings in which live nodes differ. */
async function differences(pool: PgPool): Promise<readonly string[]> {
  const { listNodes } = await import("../../cluster/postgres/node-rows.ts");
  const { differingKeys, parseSettings } = await import("../../cluster/shared-settings.ts");
  const live = (await pool.all(listNodes)).filter(({ isLive }) => isLive);
  const settings = live.map((row) => parseSettings(row.settings));
  const [first] = settings;
  if (!first) return [];
  return [...new Set(settings.flatMap((other) => differingKeys(first, other)))].sort();
}

function table(rows: readonly ReturnType<typeof shown>[]): string {
  const cells = rows.map(({ node, slot, alive, version, started_at, live_since }) => [
    node,
    String(slot),
    alive ? "alive" : "ended",
    version,
    timeOf(started_at),
    live_since === null ? "-" : timeOf(live_since),
  ]);
  const lines = [["node", "slot", "state", "version", "started", "live since"], ...cells];
  const widths =
    lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}

function timeOf(unixSecs: number): string {
  return new Date(unixSecs * 1000).toISOString().replace(".000Z", "Z");
}

async function onNodes(context: CommandContext, work: (pool: PgPool) => Promise<void>): Promise<void> {
  const { createCommon, runTask } = await import("../common.ts");
  const { postgresSettings } = await import("../../node/state/postgres/postgres-settings.ts");
  const { UserError } = await import("../../lib/failure.ts");
  const { onPostgresState } = await import("./state.ts");
  const common = createCommon(context);
  context.exitCode = await runTask(common, async () => {
    const settings = postgresSettings(common.config);
    if (!settings) throw new UserError("state.url is not set, so no other node shares this state");
    await onPostgresState(settings, common, work);
  });
}
