import { Registry } from "prom-client";
import { registerClusterMetrics } from "../cluster/cluster-metrics.ts";
import type { Pauses } from "../cluster/pauses.ts";
import type { Config } from "../config/schema.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import type { HubLogStatus } from "../db/index/hub-log.ts";
import { isDemo } from "../db/index/identity.ts";
import { type EventLogSpan, eventLogSpan } from "../db/index/outbox.ts";
import { readTotals } from "../db/index/totals.ts";
import { NO_ANSWER } from "../db/postgres/breaker.ts";
import { registerHubMetrics } from "../hub/hub-metrics.ts";
import type { HubRpc, HubStats } from "../hub/rpc.ts";
import { registerIngestMetrics } from "../ingest/metrics.ts";
import type { IngestRpc, WriterStats } from "../ingest/rpc.ts";
import type { RpcClient } from "../lib/port-rpc.ts";
import type { FanOut, FanOutStats } from "../push/fan-out.ts";
import { registerSendMetrics } from "../push/send-metrics.ts";
import type { Common } from "../runtime/common.ts";
import type { Metrics } from "../runtime/metrics.ts";
import type { StreamSlotStats } from "../stream/slots.ts";
import { registerUpstreamMetrics } from "../upstream/metrics.ts";
import { registerDeliveryMetrics } from "../webhooks/deliver/delivery-metrics.ts";
import { registerMatchMetrics } from "../webhooks/match/match-metrics.ts";
import type { MatchRpc, MatchThreadStats } from "../webhooks/match/rpc.ts";
import type { DeliveryNode, DeliveryNodeStats } from "../webhooks/rpc.ts";
import type { WritesRpc, WritesStats } from "../writes/rpc.ts";
import { registerWriteMetrics } from "../writes/write-metrics.ts";
import type { MaintenanceRpc } from "./maintenance/maintenance.ts";
import { registerMaintenanceMetrics } from "./maintenance/metrics.ts";
import type { NodeOps, PartMetrics } from "./node-ops.ts";
import { PartStats } from "./part-stats.ts";
import type { PostgresState } from "./state/main-state.ts";
import { registerStateMetrics } from "./state/metrics.ts";
import type { StateWriterStats } from "./state/state-writer.ts";
import type { StateWriterRpc } from "./state/writer-rpc.ts";
import { createStateWatch, type StateWatch } from "./state-watch.ts";
import {
  createStorageWatch,
  registerDiskMetrics,
  type StorageWatch,
  type StorageWatchOptions,
} from "./storage-watch.ts";
import { type UpstreamWatch, upstreamStatus } from "./upstream-watch.ts";

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
  /** The thread of writes; undefined while they are off. */
  readonly writes: StatsClient<WritesRpc> | undefined;
  /** The writer of state.db; undefined with PostgreSQL. */
  readonly state: StatsClient<StateWriterRpc> | undefined;
  /** See `MainState`. */
  readonly postgres: PostgresState | undefined;
  /** The watch of the upstream; undefined when the node follows none. */
  readonly upstream: UpstreamWatch | undefined;
  /** The streams of all HTTP workers. */
  readonly streams: () => StreamSlotStats;
  readonly pauses: Pick<Pauses, "latest">;
  /** Whether every part has started. */
  readonly isStarted: () => boolean;
  readonly storage: Pick<StorageWatchOptions, "replaced" | "onReplaced">;
}

/** The stats of the parts on other threads. */
interface NodeStats {
  readonly ingest: PartStats<WriterStats>;
  readonly maintenance: PartStats<ReturnType<MaintenanceRpc["stats"]>>;
  readonly fanOut: PartStats<FanOutStats>;
  readonly delivery: PartStats<DeliveryNodeStats>;
  readonly matching: PartStats<MatchThreadStats>;
  readonly hub: PartStats<HubStats> | undefined;
  readonly writes: PartStats<WritesStats> | undefined;
  readonly state: PartStats<StateWriterStats> | undefined;
}

/** Creates the operations that the main thread serves to HTTP workers, except the HTTP workers' own metrics. */
export function createNodeOps(deps: NodeOpsDeps): Omit<NodeOps, "metrics"> & {
  readonly partMetrics: readonly PartMetrics[];
  readonly stateWatch: StateWatch | undefined;
  readonly storageWatch: StorageWatch;
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
  return {
    partMetrics,
    stateWatch,
    storageWatch,
    notReadyReason({ forState }) {
      if (shutdown.signal.aborted) return "the node is shutting down";
      if (!isStarted()) return "the node is starting";
      return (
        storageWatch.writeFaultReason() ??
        upstream?.behindReason() ??
        (forState ? (awayReason(postgres) ?? stateWatch?.stalledReason()) : undefined)
      );
    },
    staleReason: async () => upstream?.behindReason(),
    status: () => nodeStatus(config, { db, upstream, stats, streams, storageWatch, pauses, postgres }),
  };
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

/** Builds the status. The section of a part that does not respond in time is null, and `unavailable` names the part. */
async function nodeStatus(
  config: Config,
  deps: Pick<NodeOpsDeps, "db" | "upstream" | "streams" | "pauses" | "postgres"> & {
    readonly stats: NodeStats;
    readonly storageWatch: StorageWatch;
  },
) {
  const { db, upstream, stats, streams, storageWatch, pauses, postgres } = deps;
  const space = storageWatch.diskSpace();
  const [writer, swept, sends, deliveries, matching, hub, writes, state] = await Promise.all([
    stats.ingest.request(),
    stats.maintenance.request(),
    stats.fanOut.request(),
    stats.delivery.request(),
    stats.matching.request(),
    stats.hub?.request(),
    stats.writes?.request(),
    stats.state?.request(),
  ]);
  const responses = {
    ingest: writer,
    maintenance: swept,
    fan_out: sends,
    delivery: deliveries,
    matching,
    ...(stats.hub ? { hub } : {}),
    ...(stats.writes ? { writes } : {}),
    ...(stats.state ? { state } : {}),
  };
  return {
    network: config.protocol.network,
    demo: isDemo(db),
    unavailable: Object.entries(responses).flatMap(([part, response]) =>
      response === undefined ? [part] : [],
    ),
    index: { size_bytes: db.sizeBytes(), rows: readTotals(db) },
    disk: {
      free_bytes: space?.freeBytes ?? null,
      total_bytes: space?.totalBytes ?? null,
      write_fault: storageWatch.writeFaultReason() ?? null,
    },
    upstream: upstream ? upstreamStatus(upstream) : null,
    ingest: writer
      ? {
          queued_records: writer.queuedRecords,
          merged_records: writer.mergedRecords,
          refused_records: writer.refusedRecords,
          commits: writer.commits,
        }
      : null,
    hub_log: hub?.events ? hubLogSection(hub.events.log) : null,
    stream: config.stream.enabled ? streamSection(streams(), eventLogSpan(db)) : null,
    state: state
      ? {
          kind: "sqlite",
          waiting_writes: state.waiting,
          writes: state.committedCalls,
          commits: state.commits,
          expired_writes: state.expiredCalls,
          stalled_secs: Math.floor(state.stalledMs / 1000),
          last_success_at: state.lastSuccessAtMs === null ? null : Math.floor(state.lastSuccessAtMs / 1000),
          failure: state.failure,
        }
      : postgres
        ? postgresStatus(postgres)
        : null,
    nodes: postgres ? nodesStatus(postgres) : null,
    switches: pauses.latest().map(({ name, reason, pausedBy, pausedAt }) => ({
      name,
      reason,
      paused_by: pausedBy,
      paused_at: pausedAt,
    })),
    maintenance: swept
      ? {
          runs: swept.runs,
          faults: swept.faults,
          last_run_at: swept.lastRunAt,
          last_run_ms: swept.lastRunMs,
          deleted_rows: swept.deletedRows,
          behind: swept.behind,
        }
      : null,
    backup: swept?.backup
      ? {
          last_at: swept.backup.lastAt,
          last_bytes: swept.backup.lastBytes,
          last_duration_ms: swept.backup.lastDurationMs,
          failure: swept.backup.failure,
          failures: swept.backup.failures,
          next_at: swept.backup.nextAt,
        }
      : null,
    send: sends
      ? {
          campaigns_running: sends.campaignsRunning,
          campaigns_queued: sends.campaignsQueued,
          oldest_queued_secs: sends.oldestQueuedSecs,
          calls_in_flight: sends.inFlight,
          batches_waiting: sends.waiting,
          hosts_down: sends.hostsDown,
        }
      : null,
    writes: writes ? writesSection(writes) : null,
    webhooks: {
      outbox_events: writer?.outbox.events ?? null,
      outbox_oldest_at: writer?.outbox.oldestAt ?? null,
      subscribed: deliveries?.subscribedWebhooks ?? null,
      deliveries: deliveries?.deliveries ?? null,
      oldest_due_secs: deliveries ? Math.round(deliveries.oldestDueMs / 1000) : null,
      calls_in_flight: deliveries?.inFlight ?? null,
      waiting: deliveries?.waiting ?? null,
      slow: deliveries?.slowWebhooks ?? null,
      matching: matching
        ? {
            events: matching.events,
            busy_secs: Math.round(matching.busyMs) / 1000,
            over_budget: matching.overBudget,
          }
        : null,
    },
  };
}

/** The writes of the API. */
function writesSection({
  answered,
  replayed,
  resubmitted,
  mergedLater,
  refusedLater,
  underWay,
  queue,
}: WritesStats) {
  return {
    queued: queue?.count ?? null,
    oldest_queued_at: queue?.oldestAt ?? null,
    under_way: underWay,
    answered,
    replayed,
    resubmitted,
    merged_later: mergedLater,
    refused_later: refusedLater,
  };
}

/** The log of hub events by shard. */
function hubLogSection({ shards }: HubLogStatus) {
  return Object.fromEntries(
    shards.map(({ shard, oldestId, headId, oldestAt }) => [
      shard,
      { oldest: oldestId, head: headId, oldest_at: oldestAt },
    ]),
  );
}

function streamSection(
  { connections, addresses, expressions, maxConnections }: StreamSlotStats,
  log: EventLogSpan,
) {
  return {
    connections,
    max_connections: maxConnections,
    addresses,
    expressions,
    retained_events: log.events,
    oldest_at: log.oldestAt,
  };
}

/** The section of a state in PostgreSQL. Nothing of it asks PostgreSQL. */
function postgresStatus({ away, calls, cluster, schemaVersion }: PostgresState) {
  const { clockOffsetMs, isFenced, rollbacks, hasSynchronousStandby } = cluster();
  const { inUse, waiting } = calls();
  const now = away();
  return {
    kind: "postgres",
    reachable: now === undefined,
    away_since: now ? Math.floor(now.sinceMs / 1000) : null,
    reason: now?.reason ?? null,
    schema: schemaVersion,
    clock_offset_ms: Math.round(clockOffsetMs),
    connections_in_use: inUse,
    waiting_calls: waiting,
    synchronous_standby: hasSynchronousStandby,
    rollbacks,
    fenced: isFenced,
  };
}

/** The section of the nodes that share a state. */
function nodesStatus({ node, cluster }: PostgresState) {
  const { nodes, maintenance } = cluster();
  return { node: node.nodeId, slot: node.slot, alive: nodes, maintenance };
}
