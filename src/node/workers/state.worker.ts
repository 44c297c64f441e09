import type { Config } from "../../config/schema.ts";
import { openStateWriter, statePath } from "../../db/state/database.ts";
import { systemClock } from "../../runtime/clock.ts";
import { maxQueuedOf } from "../../webhooks/deliver/queue-limits.ts";
import { openWriterOf } from "../state/open-writer.ts";
import { serveStateWriter } from "../state/writer-rpc.ts";
import { runWorker } from "./worker-entry.ts";

/** How often an idle writer tests whether the database can be written. */
const PROBE_INTERVAL_MS = 1_000;

/** The one writer of the state database. It runs the writes of all threads. */
runWorker<Config>(async (config) => {
  const db = openStateWriter(statePath(config.data.dir));
  const limits = { maxQueued: maxQueuedOf(config.webhooks) };
  const writer = openWriterOf(db, { limits, clock: systemClock });
  const probing = setInterval(() => writer.probe(), PROBE_INTERVAL_MS);
  return {
    connect: (port) => serveStateWriter(port, writer),
    async stop() {
      clearInterval(probing);
      await writer.drain();
      db[Symbol.dispose]();
    },
  };
});
