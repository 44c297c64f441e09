import type { Config } from "../../config/schema.ts";
import { openStateWriter, statePath } from "../../db/state/database.ts";
import type { StateNode } from "../../db/state/state-node.ts";
import { systemClock } from "../../runtime/clock.ts";
import { maxQueuedOf } from "../../webhooks/deliver/queue-limits.ts";
import { openWriterOf } from "../state/open-writer.ts";
import { serveStateWriter } from "../state/writer-rpc.ts";
import { runWorker } from "./worker-entry.ts";

/** How often an idle writer tests whether the database can be written. */
const PROBE_INTERVAL_MS = 1_000;

/** The initial message of the state worker. */
export interface StateWorkerInit {
  readonly config: Config;
  readonly stateNode: StateNode;
}

/** The one writer of the state database. It runs the writes of all threads. */
runWorker<StateWorkerInit>(async ({ config, stateNode }) => {
  const db = openStateWriter(statePath(config.data.dir));
  const limits = { maxQueued: maxQueuedOf(config.webhooks) };
  const writer = openWriterOf(db, { limits, clock: systemClock, node: stateNode });
  const probing = setInterval(() => writer.probe(), PROBE_INTERVAL_MS);
  return {
    connect: (port) => serveStateWriter(port, writer),
    async stop() {
      clearInterval(probing);
      await writer.drain();
      db.checkpoint();
      db[Symbol.dispose]();
    },
  };
});
