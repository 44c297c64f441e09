import type { Config } from "../config/schema.ts";
import { fillWithDemo } from "../demo/fill.ts";
import { createHttpServer } from "../http/server.ts";
import { type IndexDatabase, indexPath, openIndexReader, openIndexWriter } from "../index/database.ts";
import { claimNetwork, isDemo } from "../index/identity.ts";
import { readTotals } from "../index/totals.ts";
import { registerIngestMetrics } from "../ingest/metrics.ts";
import { networkOf } from "../ingest/network.ts";
import { type IngestClient, ingestStats } from "../ingest/rpc.ts";
import { EXIT_RETRYABLE } from "../lib/failure.ts";
import { RpcClient } from "../lib/port-rpc.ts";
import { registerMaintenanceMetrics } from "../maintenance/metrics.ts";
import { type MaintenanceClient, maintenanceStats } from "../maintenance/rpc.ts";
import type { FanOut } from "../notify/fan-out.ts";
import { fanOutOver } from "../notify/rpc.ts";
import type { Common } from "../process/common.ts";
import { openDataDir } from "../process/data-dir.ts";
import { apiPlugins } from "../routes/plugins.ts";
import { openState, type StateDatabase, statePath } from "../state/database.ts";
import { version } from "../version.ts";
import { workerUrls } from "../worker-urls.ts";
import type { HubWorkerInit } from "../workers/hub.worker.ts";
import type { RankingWorkerInit } from "../workers/ranking.worker.ts";
import { createManagement } from "./management.ts";
import { createPush } from "./push.ts";
import { startWorker, type WorkerHandle } from "./worker-handle.ts";

/** Where the parts that listen are reached. */
export interface Served {
  readonly httpUrl: string;
  /** Undefined where the hub is off. */
  readonly hubAddress: string | undefined;
  readonly isDemo: boolean;
}

/**
 * Starts the whole node. Each part is registered for the shutdown when it runs, so that parts end in the reverse
 * order: those that accept first, the writer after all who write through it, the directory last.
 */
export async function serve(common: Common, options: { demo: boolean }): Promise<Served> {
  const { shutdown, log } = common;
  const dataDir = openDataDir(common.config.data.dir);
  shutdown.add("data directory", () => dataDir.release());
  const config: Config = { ...common.config, data: { ...common.config.data, dir: dataDir.path } };
  prepareIndex({ ...common, config }, options);

  const crashed = (worker: string) => (message: string) => {
    log.fatal({ worker, reason: message }, "A worker crashed");
    void shutdown.start(`${worker} worker crashed`, EXIT_RETRYABLE);
  };
  const ingest = await startWorker({
    name: "ingest",
    url: workerUrls.ingest,
    init: config,
    onCrash: crashed("ingest"),
  });
  shutdown.add("ingest worker", () => ingest.stop());

  const db = openIndexReader(indexPath(config.data.dir));
  shutdown.add("index reader", () => db[Symbol.dispose]());
  const state = openState(statePath(config.data.dir));
  shutdown.add("state database", () => state[Symbol.dispose]());
  const [ranking, hub, maintenance, fanOut] = await Promise.all([
    startRanking(config, ingest, crashed("ranking")),
    startHub(config, ingest, crashed("hub")),
    startWorker({
      name: "maintenance",
      url: workerUrls.maintenance,
      init: config,
      onCrash: crashed("maintenance"),
    }),
    startWorker({ name: "fan-out", url: workerUrls.fanOut, init: config, onCrash: crashed("fan-out") }),
  ]);
  shutdown.add("ranking worker", () => ranking.stop());
  if (hub) shutdown.add("hub worker", () => hub.stop());
  shutdown.add("maintenance worker", () => maintenance.stop());
  shutdown.add("fan-out worker", () => fanOut.stop());

  const http = createNodeHttpServer(
    { ...common, config },
    {
      db,
      state,
      ingest: new RpcClient(connect(ingest)),
      maintenance: new RpcClient(connect(maintenance)),
      fanOut: fanOutOver(new RpcClient(connect(fanOut))),
    },
  );
  const listening = http.listen();
  shutdown.add("HTTP server", () => http.stop());
  return {
    httpUrl: listening.url,
    hubAddress: hub ? `${config.hub.host}:${hub.facts.port}` : undefined,
    isDemo: isDemo(db),
  };
}

/** Makes the index or brings it up to date, before anything reads it. */
function prepareIndex(common: Common, { demo }: { demo: boolean }): void {
  const { config, log, clock } = common;
  const startedMs = performance.now();
  using db = openIndexWriter(indexPath(config.data.dir));
  claimNetwork(db, config.protocol.network);
  const records = demo ? fillWithDemo({ db, network: networkOf(config.protocol.network), clock }) : 0;
  const durationMs = Math.round(performance.now() - startedMs);
  if (records > 0) log.info({ records, durationMs }, "Filled the index with the demo network");
  if (isDemo(db)) log.warn("This data directory holds the demo network, whose keys are public");
}

async function startHub(
  config: Config,
  ingest: WorkerHandle,
  onCrash: (message: string) => void,
): Promise<WorkerHandle | undefined> {
  if (config.hub.port === 0) return undefined;
  const port = connect(ingest);
  const init: HubWorkerInit = { config, ingest: port };
  return startWorker({ name: "hub", url: workerUrls.hub, init, transfer: [port], onCrash });
}

/** The worker has ranked once when this resolves, so that no client meets a node without a ranking. */
function startRanking(
  config: Config,
  ingest: WorkerHandle,
  onCrash: (message: string) => void,
): Promise<WorkerHandle> {
  const port = connect(ingest);
  const init: RankingWorkerInit = { config, ingest: port };
  return startWorker({ name: "ranking", url: workerUrls.ranking, init, transfer: [port], onCrash });
}

/** A new way to a worker. */
function connect(worker: WorkerHandle): MessagePort {
  const { port1, port2 } = new MessageChannel();
  worker.connect(port1);
  return port2;
}

function createNodeHttpServer(
  common: Common,
  parts: {
    db: IndexDatabase;
    state: StateDatabase;
    ingest: IngestClient;
    maintenance: MaintenanceClient;
    fanOut: FanOut;
  },
) {
  const { db, state, ingest, maintenance, fanOut } = parts;
  const { config, clock, metrics, shutdown } = common;
  registerIngestMetrics(metrics, { totals: () => readTotals(db), stats: () => ingestStats(ingest) });
  registerMaintenanceMetrics(metrics, () => maintenanceStats(maintenance));
  const management = createManagement({ common, index: db, state });
  return createHttpServer({
    common,
    version,
    plugins: apiPlugins({
      reads: {
        db,
        clock,
        maxIds: config.http.max_ids,
        notificationWindowSecs: config.notifications.aggregation_window_secs,
      },
      management,
      push: createPush({ common, index: db, state, management, fanOut, stopping: shutdown.signal }),
    }),
    ops: {
      notReadyReason: () => (shutdown.signal.aborted ? "the node is shutting down" : undefined),
      status: () => nodeStatus(config, { db, ingest, maintenance, fanOut }),
    },
  });
}

async function nodeStatus(
  config: Config,
  parts: { db: IndexDatabase; ingest: IngestClient; maintenance: MaintenanceClient; fanOut: FanOut },
) {
  const { db, ingest, maintenance, fanOut } = parts;
  const [stats, swept, sends] = await Promise.all([
    ingestStats(ingest),
    maintenanceStats(maintenance),
    fanOut.figures(),
  ]);
  return {
    network: config.protocol.network,
    demo: isDemo(db),
    index: { size_bytes: db.sizeBytes(), rows: readTotals(db) },
    ingest: {
      queued_records: stats.queuedRecords,
      merged_records: stats.mergedRecords,
      refused_records: stats.refusedRecords,
      commits: stats.commits,
    },
    maintenance: {
      runs: swept.runs,
      faults: swept.faults,
      last_run_at: swept.lastRunAt,
      last_run_ms: swept.lastRunMs,
      deleted_rows: swept.deletedRows,
      behind: swept.behind,
    },
    send: {
      campaigns_running: sends.campaignsRunning,
      campaigns_queued: sends.campaignsQueued,
      oldest_queued_secs: Math.round(sends.oldestQueuedSecs),
      calls_in_flight: sends.inFlight,
      batches_waiting: sends.waiting,
      hosts_down: sends.hostsDown,
    },
  };
}
