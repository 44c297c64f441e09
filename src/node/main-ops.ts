import { Registry } from "prom-client";
import { registerClusterMetrics } from "../cluster/cluster-metrics.ts";
import type { Pauses } from "../cluster/pauses.ts";
import type { Config } from "../config/schema.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import { isEmpty } from "../db/index/identity.ts";
import { readTotals } from "../db/index/totals.ts";
import { NO_ANSWER } from "../db/postgres/breaker.ts";
import { registerHubMetrics } from "../hub/hub-metrics.ts";
import type { HubRpc } from "../hub/rpc.ts";
import { registerIngestMetrics } from "../ingest/metrics.ts";
import type { IngestRpc } from "../ingest/rpc.ts";
import type { RpcClient } from "../lib/port-rpc.ts";
import type { FanOut } from "../push/fan-out.ts";
import { registerSendMetrics } from "../push/send-metrics.ts";
import type { Common } from "../runtime/common.ts";
import type { Metrics } from "../runtime/metrics.ts";
import { registerSignerMetrics } from "../signers/signer-metrics.ts";
import type { SignerStatsRpc } from "../signers/signer-stats.ts";
import type { StreamSlotStats } from "../stream/slots.ts";
import { registerUpstreamMetrics } from "../upstream/metrics.ts";
import { programName } from "../version.ts";
import { registerDeliveryMetrics } from "../webhooks/deliver/delivery-metrics.ts";
import { registerMatchMetrics } from "../webhooks/match/match-metrics.ts";
import type { MatchRpc } from "../webhooks/match/rpc.ts";
import type { DeliveryNode } from "../webhooks/rpc.ts";
import type { WritesRpc } from "../writes/rpc.ts";
import { registerWriteMetrics } from "../writes/write-metrics.ts";
import { type CheckReasons, firstReason } from "./checks.ts";
import type { Threads } from "./console/threads.ts";
import type { MaintenanceRpc } from "./maintenance/maintenance.ts";
import { registerMaintenanceMetrics } from "./maintenance/metrics.ts";
import { type NodeOps, type PartMetrics, registerReadyMetric } from "./node-ops.ts";
import { PartStats } from "./part-stats.ts";
import type { PostgresState } from "./state/main-thread-state.ts";
import { registerStateMetrics } from "./state/metrics.ts";
import type { StateWriterRpc } from "./state/writer-rpc.ts";
import { createStateWatch, type StateWatch } from "./state-watch.ts";
import { type NodeStats, nodeStatus } from "./status.ts";
import {
  createStorageWatch,
  registerDiskMetrics,
  type StorageWatch,
  type StorageWatchOptions,
} from "./storage-watch.ts";
import type { UpstreamWatch } from "./upstream-watch.ts";

type StatsClient<Rpc extends { stats(): unknown }> = Pick<RpcClient<Rpc>, "stats">;

/** The clients of the parts that report stats. */
interface NodeOpsDeps {
  readonly common: Common;
  readonly db: IndexDatabase;
  readonly ingest: StatsClient<IngestRpc>;
  readonly maintenance: StatsClient<MaintenanceRpc>;
  readonly fanOut: StatsClient<FanOut>;
  readonly delivery: StatsClient<DeliveryNode>;
  readonly matching: StatsClient<MatchRpc>;
  /** The hub's thread; undefined when neither gRPC nor its reads are served. */
  readonly hub: StatsClient<HubRpc> | undefined;
  /** The thread of writes and managed signers; undefined while both are off. */
  readonly writes: (StatsClient<WritesRpc> & RpcClient<SignerStatsRpc>) | undefined;
  /** The writer of state.db; undefined with PostgreSQL. */
  readonly state: StatsClient<StateWriterRpc> | undefined;
  /** See `MainState`. */
  readonly postgres: PostgresState | undefined;
  readonly threads: Pick<Threads, "reports">;
  /** The watch of the upstream; undefined when the node follows none. */
  readonly upstream: UpstreamWatch | undefined;
  /** The streams of all HTTP workers. */
  readonly streams: () => StreamSlotStats;
  readonly pauses: Pick<Pauses, "latest">;
  /** Whether every part has started. */
  readonly isStarted: () => boolean;
  readonly storage: Pick<StorageWatchOptions, "replaced" | "onReplaced" | "damage">;
}

/** Creates the operations that the main thread serves to HTTP workers, except the HTTP workers' own metrics. */
export function createNodeOps(deps: NodeOpsDeps): Omit<NodeOps, "metrics"> & {
  readonly partMetrics: readonly PartMetrics[];
  readonly stateWatch: StateWatch | undefined;
  readonly storageWatch: StorageWatch;
  readonly stats: NodeStats;
} {
  const {
    common,
    db,
    ingest,
    maintenance,
    fanOut,
    delivery,
    matching,
    hub,
    writes,
    state,
    postgres,
    upstream,
    threads,
    streams,
    pauses,
    isStarted,
    storage,
  } = deps;
  const { config, log, metrics, shutdown } = common;
  const stats: NodeStats = {
    ingest: new PartStats("ingest", () => ingest.stats()),
    maintenance: new PartStats("maintenance", () => maintenance.stats()),
    fanOut: new PartStats("fan_out", () => fanOut.stats()),
    delivery: new PartStats("delivery", () => delivery.stats()),
    matching: new PartStats("matching", () => matching.stats()),
    hub: hub && new PartStats("hub", () => hub.stats()),
    writes: writes && new PartStats("writes", () => writes.stats()),
    signers: writes && new PartStats("signers", () => writes.signerStats()),
    state: state && new PartStats("state", () => state.stats()),
  };
  const stateWatch = stats.state && createStateWatch(stats.state);
  const partMetrics = [
    partMetricsOf(metrics, stats.ingest, (own, read) =>
      registerIngestMetrics(own, { totals: () => readTotals(db), stats: read }),
    ),
    partMetricsOf(metrics, stats.maintenance, registerMaintenanceMetrics),
    partMetricsOf(metrics, stats.fanOut, registerSendMetrics),
    partMetricsOf(metrics, stats.delivery, registerDeliveryMetrics),
    partMetricsOf(metrics, stats.matching, registerMatchMetrics),
    ...(stats.hub ? [partMetricsOf(metrics, stats.hub, registerHubMetrics)] : []),
    ...(stats.writes ? [partMetricsOf(metrics, stats.writes, registerWriteMetrics)] : []),
    ...(stats.signers ? [partMetricsOf(metrics, stats.signers, registerSignerMetrics)] : []),
    ...(stats.state ? [partMetricsOf(metrics, stats.state, registerStateMetrics)] : []),
  ];
  if (postgres) registerClusterMetrics(metrics, { ...postgres, isAway: () => postgres.away() !== undefined });
  if (upstream) registerUpstreamMetrics(metrics, () => upstream.latest());
  const storageWatch = createStorageWatch({
    ...storage,
    dataDir: config.data.dir,
    writeFaults: {
      index: async () => (await stats.ingest.request())?.writeFault,
      ...(stats.state ? { state: async () => (await stats.state?.request())?.failure } : {}),
    },
    log,
  });
  registerDiskMetrics(metrics, storageWatch);
  const reasons: CheckReasons = {
    stopping: () => (shutdown.signal.aborted ? "the node is shutting down" : undefined),
    starting: () => (isStarted() ? undefined : "the node is starting"),
    database_damaged: () => storageWatch.damageReason(),
    disk_write: () => storageWatch.writeFaultReason(),
    index_full: () => (stats.ingest.latest?.size.isFull ? "index at index.max_bytes" : undefined),
    upstream_worker: () => upstream?.workerReason(),
    upstream_peer: () => upstream?.peerReason(),
    upstream_behind: () => upstream?.lagReason(),
    not_set_up: () => notSetUpReason(config, db),
    state_away: () => awayReason(postgres),
    state_stalled: () => stateWatch?.stalledReason(),
  };
  const notReadyReason: NodeOps["notReadyReason"] = (request) => firstReason(reasons, request);
  registerReadyMetric(metrics, async () => firstReason(reasons, { forState: false }) === undefined);
  return {
    partMetrics,
    stateWatch,
    storageWatch,
    stats,
    notReadyReason,
    staleReason: async () => upstream?.behindReason(),
    status: () =>
      nodeStatus(config, { db, upstream, stats, threads, streams, storageWatch, pauses, postgres }),
  };
}

/** Why a node that nothing has been chosen for must not get requests yet. */
function notSetUpReason({ service, upstream }: Config, db: IndexDatabase): string | undefined {
  if (service.ready_when_empty || upstream.url !== "" || !isEmpty(db)) return undefined;
  return `not_set_up: the node has no data and follows no node; ${programName} init chooses the users that it serves`;
}

function awayReason(postgres: PostgresState | undefined): string | undefined {
  const away = postgres?.away();
  if (!away) return undefined;
  return away.reason === NO_ANSWER ? NO_ANSWER : `${NO_ANSWER}: ${away.reason}`;
}

/** Registers the metrics of a part in a separate registry, which is rendered when the part has responded. */
function partMetricsOf<Stats>(
  { prefix }: Metrics,
  stats: PartStats<Stats>,
  register: (metrics: Metrics, read: () => Promise<Stats>) => void,
): PartMetrics {
  const registry = new Registry();
  register({ registry, prefix }, () => stats.requireLatest());
  return { stats, registry };
}
