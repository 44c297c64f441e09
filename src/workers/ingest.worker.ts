import type { Config } from "../config/schema.ts";
import { indexPath, openIndexWriter } from "../index/database.ts";
import { IngestEngine } from "../ingest/engine.ts";
import { EventSignal } from "../ingest/event-signal.ts";
import { networkOf } from "../ingest/network.ts";
import { IngestQueue } from "../ingest/queue.ts";
import { handleIngestRequest, type IngestAnswer, type IngestRequest } from "../ingest/rpc.ts";
import { serveRpc } from "../lib/port-rpc.ts";
import { systemClock } from "../process/clock.ts";
import { createLogger } from "../process/logger.ts";
import { runWorker } from "./worker-entry.ts";

/** The one writer of the index: merges what the other workers validated. */
runWorker<Config>(async (config) => {
  const log = createLogger(config, { subsystem: "ingest" });
  const db = openIndexWriter(indexPath(config.data.dir));
  const newEvents = new EventSignal();
  const engine = new IngestEngine({
    db,
    network: networkOf(config.protocol.network),
    clock: systemClock,
    onFault: (cause) => log.error({ err: cause }, "a record could not be stored"),
    onEvents: () => newEvents.raise(),
  });
  const queue = new IngestQueue(engine);
  return {
    connect: (port) =>
      serveRpc<IngestRequest, IngestAnswer>(port, (request) =>
        handleIngestRequest({ db, engine, queue, newEvents }, request),
      ),
    async stop() {
      await queue.drain();
      db.checkpoint();
      db[Symbol.dispose]();
    },
  };
});
