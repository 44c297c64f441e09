import type { Config } from "../../config/schema.ts";
import { CommitSequence } from "../../db/index/commit-sequence.ts";
import { indexPath, openIndexWriter } from "../../db/index/database.ts";
import { createIngestEngine } from "../../ingest/engine.ts";
import { EventSignal } from "../../ingest/event-signal.ts";
import { createIngestFaultLog } from "../../ingest/fault-log.ts";
import { createOutboxRetention, OUTBOX_COMMIT_INTERVAL_MS } from "../../ingest/outbox-retention.ts";
import { IngestQueue } from "../../ingest/queue.ts";
import { serveIngest } from "../../ingest/rpc.ts";
import { networkOf } from "../../protocol/network.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLogger } from "../../runtime/logger.ts";
import { runWorker } from "./worker-entry.ts";

/** How often an idle writer retries a database that could not be written. */
const RETRY_INTERVAL_MS = 5_000;
/** How often an idle writer moves rows to the ids of casts that arrived late. */
const REPOINT_INTERVAL_MS = 1_000;

/** The initial message of the ingest worker. */
export interface IngestWorkerInit {
  readonly config: Config;
  /** The commits of this worker, which readers follow. */
  readonly commits: SharedArrayBuffer;
}

/** The one writer of the index. It merges the records that other workers validated. */
runWorker<IngestWorkerInit>(async ({ config, commits }) => {
  const log = createLogger(config, { subsystem: "ingest" });
  const db = openIndexWriter(indexPath(config.data.dir));
  db.commits = new CommitSequence(commits);
  const newEvents = new EventSignal();
  const logFault = createIngestFaultLog({ log, clock: systemClock });
  const engine = createIngestEngine({
    db,
    network: networkOf(config.protocol.network),
    clock: systemClock,
    onFault: logFault,
    onEvents: () => newEvents.raise(),
  });
  const queue = new IngestQueue(engine);
  const retention = createOutboxRetention({
    db,
    clock: systemClock,
    retentionSecs: config.stream.retention_hours * 3600,
  });
  const sweepOutbox = () => {
    try {
      retention.sweep();
    } catch (err) {
      logFault(err);
    }
  };
  const retrying = setInterval(() => db.retryWrite(), RETRY_INTERVAL_MS);
  const sweeping = setInterval(sweepOutbox, OUTBOX_COMMIT_INTERVAL_MS);
  const repointing = setInterval(() => engine.repointMore(), REPOINT_INTERVAL_MS);
  return {
    connect: (port) => serveIngest(port, { db, engine, queue, newEvents, retention }),
    async stop() {
      clearInterval(retrying);
      clearInterval(sweeping);
      clearInterval(repointing);
      await queue.drain();
      db.checkpoint();
      db[Symbol.dispose]();
    },
  };
});
