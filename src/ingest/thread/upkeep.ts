import type { IndexDatabase } from "../../db/index/database.ts";
import { onBeat } from "../../runtime/clock.ts";
import type { IngestEngine } from "../engine.ts";
import { LOG_COMMIT_INTERVAL_MS, type LogRetention } from "./log-retention.ts";

/** How often an idle writer retries a database that was not writable. */
const RETRY_INTERVAL_MS = 5_000;
/** How often an idle writer moves rows to the ids of casts that arrived late, and checks its files. */
const IDLE_INTERVAL_MS = 1_000;

export interface UpkeepDeps {
  readonly db: IndexDatabase;
  readonly engine: Pick<IngestEngine, "repointMore">;
  readonly retention: Pick<LogRetention, "sweep">;
  readonly onFault: (cause: unknown) => void;
  /** For tests. */
  readonly every?: typeof onBeat;
}

/**
 * Starts what the writer of the index does at intervals, with and without records to merge.
 *
 * @returns stops it.
 */
export function startUpkeep({ db, engine, retention, onFault, every = onBeat }: UpkeepDeps): () => void {
  const sweepLogs = () => {
    try {
      retention.sweep();
    } catch (cause) {
      onFault(cause);
    }
  };
  const stops = [
    // Nothing else may ever write: requests stay away from a node that is not ready.
    every(RETRY_INTERVAL_MS, () => db.retryWrite()),
    every(LOG_COMMIT_INTERVAL_MS, sweepLogs),
    every(IDLE_INTERVAL_MS, () => {
      if (!db.findDamage()) engine.repointMore();
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
