import { openPgDriver, type PgRunner } from "./driver.ts";
import type { PgSettings } from "./pools.ts";
import { pgStatement } from "./statement.ts";

/** Work of commands on the whole state: one transaction on a consistent view, which may take long. */

/** By PostgreSQL's clock, because the clock of the machine that runs the command may be wrong. */
const liveNodeIds = pgStatement<{ node_id: string }>(
  "whole-state.live-nodes",
  `SELECT node_id FROM nodes WHERE ends_at_ms > extract(epoch FROM clock_timestamp()) * 1000 ORDER BY node_id`,
);
const raiseClock = pgStatement<unknown, [nowSecs: number, nonceFloor: number]>(
  "whole-state.raise-clock",
  `UPDATE state_clock SET now_secs = greatest(now_secs, $1), nonce_floor = greatest(nonce_floor, $2) WHERE id = 1`,
);

/** Runs `work` in one REPEATABLE READ transaction without a time limit. Rolls back if it throws. */
export async function onWholeState<T>(
  settings: PgSettings,
  work: (runner: PgRunner) => Promise<T>,
): Promise<T> {
  const driver = openPgDriver({
    connect: settings.connect,
    tlsCa: settings.tlsCa,
    connections: 1,
    connectTimeoutMs: settings.timeoutMs,
    session: {
      applicationName: "whole state",
      schema: settings.schema,
      statementTimeoutMs: 0,
      lockTimeoutMs: settings.timeoutMs,
      syncsCommits: true,
    },
  });
  try {
    return await driver.begin(async (runner) => {
      await runner.runText("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
      // The caller may do other work between two statements.
      await runner.runText("SET LOCAL idle_in_transaction_session_timeout = 0");
      return work(runner);
    });
  } finally {
    driver.close();
  }
}

/** Returns the nodes whose leases have not expired. */
export async function liveNodes(runner: PgRunner): Promise<readonly string[]> {
  return (await runner.run(liveNodeIds, [])).rows.map(({ node_id }) => node_id);
}

/** Raises the saved time and the time up to which nonces count as used. */
export async function raiseStateClock(
  runner: PgRunner,
  { nowSecs, nonceFloor }: { readonly nowSecs: number; readonly nonceFloor: number },
): Promise<void> {
  await runner.run(raiseClock, [nowSecs, nonceFloor]);
}
