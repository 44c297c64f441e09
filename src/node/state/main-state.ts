import type { NodeSignals } from "../../cluster/node-signals.ts";
import { createPauses, watchSwitches } from "../../cluster/pauses.ts";
import { createSwitches } from "../../cluster/switch-store.ts";
import type { Config } from "../../config/schema.ts";
import { openStateReader, type StateDatabase, statePath } from "../../db/state/database.ts";
import { sql } from "../../db/state/sql.ts";
import { taskStateDb } from "../../db/state/sqlite-state-db.ts";
import { clockMarkOf, continueClock, markClock } from "../../db/state/state-clock.ts";
import { type StateDb, startSingleNode } from "../../db/state/state-db.ts";
import { onBeat } from "../../runtime/clock.ts";
import { masterKeysOf, refuseMissingKeys, type SealedUse } from "../signers/master-keys.ts";
import { postgresSettings } from "./postgres/postgres-settings.ts";
import type { MainState, MainStateDeps, PartOnNeed } from "./thread-state.ts";

/** How often the other threads receive the time of state.db. */
const CLOCK_INTERVAL_MS = 1_000;

/**
 * Opens the state for the main thread, and joins the other nodes of a state in PostgreSQL. The database exists and has the current
 * schema. Rejects if the node may not join, like `joinCluster`.
 */
export async function openMainState(deps: MainStateDeps): Promise<MainState> {
  const settings = postgresSettings(deps.common.config);
  if (!settings) return openLocal(deps);
  // A dynamic import for the reason given in `openStateStores`.
  const { joinPostgres } = await import("./postgres/join-postgres.ts");
  return joinPostgres(settings, deps);
}

/** Makes all threads use the clock of state.db. Its writer has one of the same kind. */
function shareClock(reader: StateDatabase, signals: NodeSignals): () => void {
  const clock = continueClock(reader);
  const mark = clockMarkOf(reader.file);
  const share = () => {
    signals.setStateTime(clock.nowMs());
    markClock(mark, clock);
  };
  share();
  return onBeat(CLOCK_INTERVAL_MS, share);
}

async function openLocal({ common, nodeId, signals }: MainStateDeps): Promise<MainState> {
  const { config, log } = common;
  const pauses = createPauses({ signals, log });
  const reader = openStateReader(statePath(config.data.dir));
  const db = taskStateDb(reader);
  const sealed = await refuseMissingKeys(config, db);
  const stopClock = shareClock(reader, signals);
  const stopWatching = await watchSwitches({ switches: createSwitches(db), pauses, log });
  return {
    node: startSingleNode(nodeId),
    pauses,
    threadsWithWork: await readThreadsWithWork(config, db, sealed),
    pgStats: undefined,
    postgres: undefined,
    incidents: undefined,
    async stop() {
      stopWatching();
      stopClock();
      reader[Symbol.dispose]();
    },
  };
}

/** The conditions make SQLite use indexes: no row has the number or the time 0. */
const waitingWork = sql<{ delivery: unknown; fanOut: unknown; writes: unknown }>(
  "threads.waiting-work",
  `SELECT
     EXISTS (SELECT 1 FROM webhooks WHERE seq > 0) OR EXISTS (SELECT 1 FROM delivery_totals WHERE count > 0) AS delivery,
     EXISTS (SELECT 1 FROM campaigns WHERE ended_at IS NULL)
       OR EXISTS (SELECT 1 FROM schedule_waves WHERE state = 'due' AND due_at_ms > 0) AS "fanOut",
     EXISTS (SELECT 1 FROM queued_writes WHERE due_at_ms IS NOT NULL AND due_at_ms > 0) AS writes`,
);

/**
 * Returns the threads for which a state has work, or that are the only ones to report some figures. The others have nothing to do until the
 * first request to them, because no other process writes state.db.
 *
 * @param sealed what is sealed under master keys: the thread for writes counts signers and reseals keys that are under a previous master
 * key
 */
async function readThreadsWithWork(
  config: Config,
  db: StateDb,
  sealed: readonly SealedUse[],
): Promise<ReadonlySet<PartOnNeed>> {
  const waiting = await db.get(waitingWork);
  const current = masterKeysOf(config)[0]?.keyId;
  const hasKeys = sealed.some(({ unit, keyId }) => unit === "signer" || keyId !== current);
  const withWork = new Set<PartOnNeed>();
  if (waiting?.delivery) withWork.add("delivery");
  if (waiting?.fanOut) withWork.add("fanOut");
  if (waiting?.writes || hasKeys) withWork.add("writes");
  return withWork;
}
