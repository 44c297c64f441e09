import type { PgPools } from "../../../src/db/postgres/pools.ts";
import { postgresStateDb } from "../../../src/db/postgres/state-db.ts";
import { createSteadyClock } from "../../../src/db/state/state-clock.ts";
import { type StateDb, startSingleNode } from "../../../src/db/state/state-db.ts";
import { type Clock, systemClock } from "../../../src/runtime/clock.ts";

/** The state of a test's database as the stores use it. */
export function stateDbOf({ main }: Pick<PgPools, "main">, clock: Clock = systemClock): StateDb {
  return postgresStateDb(
    { synced: main, unsynced: main },
    { clock: createSteadyClock({ clock, monotonicMs: () => clock.nowMs() }), node: startSingleNode() },
  );
}
