import { NodeSignals } from "../../cluster/node-signals.ts";
import type { Config } from "../../config/schema.ts";
import { openStateWriter, statePath } from "../../db/state/database.ts";
import type { StateNode } from "../../db/state/state-db.ts";
import { onBeat, systemClock } from "../../runtime/clock.ts";
import { queueLimitsOf } from "../../webhooks/deliver/queue-limits.ts";
import { openWriterOf } from "../state/open-writer.ts";
import { serveStateWriter } from "../state/writer-client.ts";
import { runWorker } from "./worker-entry.ts";

/** How often an idle writer tests whether the database can be written. */
const PROBE_INTERVAL_MS = 1_000;

/** The initial message of the state worker. */
export interface StateWorkerInit {
  readonly config: Config;
  readonly stateNode: StateNode;
  /** See `NodeSignals`. */
  readonly signals: SharedArrayBuffer;
}

/** The only writer of the state database. It runs the writes of all threads. */
runWorker<StateWorkerInit>(async ({ config, stateNode, signals: shared }) => {
  const db = openStateWriter(statePath(config.data.dir));
  const signals = new NodeSignals(shared);
  db.isDamagedElsewhere = () => signals.isDamaged("state");
  const limits = queueLimitsOf(config);
  const writer = openWriterOf(db, { limits, clock: systemClock, node: stateNode });
  const stopProbing = onBeat(PROBE_INTERVAL_MS, () => writer.probe());
  return {
    connect: (port) => serveStateWriter(port, writer),
    async stop() {
      stopProbing();
      await writer.drain();
      if (db.findDamage()?.fault !== "log_lost") db.checkpoint();
      db[Symbol.dispose]();
    },
  };
});
