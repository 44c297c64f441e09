import type { StateDatabase } from "../../src/db/state/database.ts";
import type { StateNode } from "../../src/db/state/state-db.ts";
import { createLocalStores } from "../../src/node/state/sqlite-stores.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import { systemClock } from "../../src/runtime/clock.ts";

/** More than any test queues for one webhook. */
const MAX_QUEUED = 1_000_000;

/** How long the sweeps retain a row after it expires. */
export const SWEEP_MARGIN_SECS = 60;

export interface LocalOptions {
  readonly maxQueued?: number;
  /** Also the monotonic time: it does not jump, it is advanced. */
  readonly clock?: Clock;
  /** Default: a new boot. */
  readonly node?: StateNode;
  /** `upstream.ready_lag_secs`. Default: acts of owners count for as long as they are kept. */
  readonly readyLagSecs?: number;
}

const opened = new WeakMap<StateDatabase, ReturnType<typeof createLocalStores>>();

/**
 * Returns the stores over a connection, with the writer in this thread. The same connection always gets the same
 * stores.
 */
export function localStores(
  db: StateDatabase,
  { maxQueued = MAX_QUEUED, clock = systemClock, node, readyLagSecs }: LocalOptions = {},
): ReturnType<typeof createLocalStores> {
  const made = () =>
    createLocalStores(db, {
      limits: { maxQueued },
      clock,
      monotonicMs: () => clock.nowMs(),
      node,
      acts: readyLagSecs === undefined ? undefined : { clock, readyLagSecs },
    });
  const known = opened.get(db) ?? made();
  opened.set(db, known);
  return known;
}
