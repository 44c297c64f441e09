import type { Config } from "../../config/schema.ts";
import { CommitSequence } from "../../db/index/commit-sequence.ts";
import { indexPath, openIndexWriter } from "../../db/index/database.ts";
import { createDeferredSync } from "../../db/index/deferred-sync.ts";
import { createFaultLog } from "../../db/state/unavailable-log.ts";
import { createIngestEngine } from "../../ingest/engine.ts";
import { EventSignal } from "../../ingest/event-signal.ts";
import { createIngestFaultLog } from "../../ingest/fault-log.ts";
import { openLogs } from "../../ingest/hub-log/open-logs.ts";
import { createOwnHubLog } from "../../ingest/hub-log/own-hub-log.ts";
import { createLogRetention, LOG_COMMIT_INTERVAL_MS } from "../../ingest/log-retention.ts";
import { IngestQueue } from "../../ingest/queue.ts";
import { serveIngest } from "../../ingest/rpc.ts";
import { createSizeBound } from "../../ingest/size-bound.ts";
import { logSizeLevel } from "../../ingest/size-log.ts";
import { networkOf } from "../../protocol/network.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLogger } from "../../runtime/logger.ts";
import { openStateStores } from "../state/open-state.ts";
import type { StateLink } from "../state/thread-state.ts";
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
  readonly state: StateLink;
}

/** The one writer of the index. It merges the records that other workers validated. */
runWorker<IngestWorkerInit>(async ({ config, commits, state: link }, { keepLine }) => {
  const log = createLogger(config, { subsystem: "ingest", keep: keepLine });
  const db = openIndexWriter(indexPath(config.data.dir));
  const sequence = new CommitSequence(commits);
  db.commits = sequence;
  db.search.isOn = config.index.full_text;
  const deferred = createDeferredSync({
    db,
    onFault(cause) {
      throw new Error(`the write-ahead log of the index could not be synced: ${cause.message}`, { cause });
    },
  });
  const newEvents = new EventSignal();
  const logFault = createIngestFaultLog({ log, clock: systemClock });
  const newHubEvents = new EventSignal();
  const state = await openStateStores({ config, part: "ingest", link, log });
  const logStateFault = createFaultLog({ log, clock: systemClock });
  const isNumbering = config.upstream.url === "";
  const logs = await openLogs({
    db,
    nodeId: link.node.nodeId,
    store: state.stores.nodeLogs,
    clock: systemClock,
    isNumbering,
    isLogging: config.hub.reads,
    onFault: (cause) => logStateFault(cause, {}, "Heights of blocks could not be reserved"),
  });
  const retention = createLogRetention({
    db,
    clock: systemClock,
    outboxSecs: config.stream.retention_hours * 3600,
    hubLogSecs: config.hub.event_retention_hours * 3600,
  });
  const bound = createSizeBound({
    db,
    maxBytes: config.index.max_bytes,
    shrink: () => {
      try {
        return retention.shrink();
      } catch (err) {
        logFault(err);
        return false;
      }
    },
    onLevel(level, before, size) {
      sequence.setFull(size.isFull);
      logSizeLevel(log, level, before, size);
    },
  });
  const engine = createIngestEngine({
    db,
    bound,
    network: networkOf(config.protocol.network),
    clock: systemClock,
    onFault: logFault,
    onEvents: () => void deferred.synced().then(() => newEvents.raise()),
    hubLog: isNumbering && config.hub.reads ? createOwnHubLog({ db, logs }) : undefined,
    onHubEvents: () => void deferred.synced().then(() => newHubEvents.raise()),
  });
  const queue = new IngestQueue(engine, deferred);
  const sweepLogs = () => {
    try {
      retention.sweep();
    } catch (err) {
      logFault(err);
    }
  };
  const retrying = setInterval(() => db.retryWrite(), RETRY_INTERVAL_MS);
  const sweeping = setInterval(sweepLogs, LOG_COMMIT_INTERVAL_MS);
  const repointing = setInterval(() => engine.repointMore(), REPOINT_INTERVAL_MS);
  return {
    connect: (port) => serveIngest(port, { db, engine, queue, bound, newEvents, newHubEvents, retention }),
    async stop() {
      clearInterval(retrying);
      clearInterval(sweeping);
      clearInterval(repointing);
      logs.stop();
      await queue.drain();
      await state[Symbol.asyncDispose]();
      deferred[Symbol.dispose]();
      db.checkpoint();
      db[Symbol.dispose]();
    },
  };
});
