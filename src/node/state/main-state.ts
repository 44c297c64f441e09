import type { NodeSignals } from "../../cluster/node-signals.ts";
import { createPauses, watchSwitches } from "../../cluster/pauses.ts";
import { createSwitches } from "../../cluster/switch-store.ts";
import { openStateReader, type StateDatabase, statePath } from "../../db/state/database.ts";
import { taskStateDb } from "../../db/state/sqlite-state-db.ts";
import { clockMarkOf, continueClock, markClock } from "../../db/state/state-clock.ts";
import { startSingleNode } from "../../db/state/state-db.ts";
import { onBeat } from "../../runtime/clock.ts";
import { refuseMissingKeys } from "../signers/master-keys.ts";
import { postgresSettings } from "./postgres/postgres-settings.ts";
import type { MainState, MainStateDeps } from "./thread-state.ts";
import { readThreadsWithWork } from "./waiting-work.ts";

/** How often the other threads get the time of state.db. */
const CLOCK_INTERVAL_MS = 1_000;

/**
 * Opens the state for the main thread, and joins the other nodes of a state in PostgreSQL. The database is there, with the
 * current schema. Rejects when the node may not join, like `joinCluster`.
 */
export async function openMainState(deps: MainStateDeps): Promise<MainState> {
  const settings = postgresSettings(deps.common.config);
  if (!settings) return openLocal(deps);
  // A dynamic import, for the reason that `openStateStores` names.
  const { joinPostgres } = await import("./postgres/join-postgres.ts");
  return joinPostgres(settings, deps);
}

/** Lets all threads follow the clock of state.db. Its writer has one of the same kind. */
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
