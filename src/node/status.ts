import type { Pauses } from "../cluster/pauses.ts";
import type { Config } from "../config/schema.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import type { HubLogStatus } from "../db/index/hub-log.ts";
import { isDemo } from "../db/index/identity.ts";
import { type EventLogSpan, eventLogSpan } from "../db/index/outbox.ts";
import { readTotals } from "../db/index/totals.ts";
import type { HubStats } from "../hub/rpc.ts";
import type { WriterStats } from "../ingest/rpc.ts";
import type { FanOutStats } from "../push/fan-out.ts";
import type { SignerStats } from "../signers/signer-stats.ts";
import type { StreamSlotStats } from "../stream/slots.ts";
import type { MatchThreadStats } from "../webhooks/match/rpc.ts";
import type { DeliveryNodeStats } from "../webhooks/rpc.ts";
import type { WritesStats } from "../writes/rpc.ts";
import type { Threads } from "./console/threads.ts";
import type { MaintenanceRpc } from "./maintenance/maintenance.ts";
import type { PartStats } from "./part-stats.ts";
import type { PostgresState } from "./state/main-thread-state.ts";
import type { StateWriterStats } from "./state/state-writer.ts";
import type { StorageWatch } from "./storage-watch.ts";
import { type UpstreamWatch, upstreamStatus } from "./upstream-watch.ts";

/** The stats of the parts on other threads. */
export interface NodeStats {
  readonly ingest: PartStats<WriterStats>;
  readonly maintenance: PartStats<ReturnType<MaintenanceRpc["stats"]>>;
  readonly fanOut: PartStats<FanOutStats>;
  readonly delivery: PartStats<DeliveryNodeStats>;
  readonly matching: PartStats<MatchThreadStats>;
  readonly hub: PartStats<HubStats> | undefined;
  readonly writes: PartStats<WritesStats> | undefined;
  readonly signers: PartStats<SignerStats> | undefined;
  readonly state: PartStats<StateWriterStats> | undefined;
}

export interface StatusDeps {
  readonly db: IndexDatabase;
  readonly stats: NodeStats;
  readonly threads: Pick<Threads, "reports">;
  /** The watch of the upstream; undefined when the node follows none. */
  readonly upstream: UpstreamWatch | undefined;
  /** The streams of all HTTP workers. */
  readonly streams: () => StreamSlotStats;
  readonly storageWatch: StorageWatch;
  readonly pauses: Pick<Pauses, "latest">;
  /** See `MainState`. */
  readonly postgres: PostgresState | undefined;
}

/** Builds the status. The section of a part that does not respond in time is null, and `unavailable` names the part. */
export async function nodeStatus(config: Config, deps: StatusDeps) {
  const { db, upstream, stats, threads, streams, storageWatch, pauses, postgres } = deps;
  const space = storageWatch.diskSpace();
  const [writer, swept, sends, deliveries, matching, hub, writes, signers, state, running] =
    await Promise.all([
      stats.ingest.request(),
      stats.maintenance.request(),
      stats.fanOut.request(),
      stats.delivery.request(),
      stats.matching.request(),
      stats.hub?.request(),
      stats.writes?.request(),
      stats.signers?.request(),
      stats.state?.request(),
      threads.reports(),
    ]);
  const responses = {
    ingest: writer,
    maintenance: swept,
    fan_out: sends,
    delivery: deliveries,
    matching,
    ...(stats.hub ? { hub } : {}),
    ...(stats.writes ? { writes } : {}),
    ...(stats.signers ? { signers } : {}),
    ...(stats.state ? { state } : {}),
  };
  return {
    network: config.protocol.network,
    demo: isDemo(db),
    unavailable: Object.entries(responses).flatMap(([part, response]) =>
      response === undefined ? [part] : [],
    ),
    index: {
      size_bytes: db.sizeBytes(),
      bytes: writer?.size.bytes ?? null,
      max_bytes: config.index.max_bytes === 0 ? null : config.index.max_bytes,
      full: writer?.size.isFull ?? null,
      rows: readTotals(db),
    },
    disk: {
      free_bytes: space?.freeBytes ?? null,
      total_bytes: space?.totalBytes ?? null,
      write_fault: storageWatch.damageReason() ?? storageWatch.writeFaultReason() ?? null,
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
    signers: signers
      ? {
          key_id: signers.keyId,
          count_by_key_id: signers.countsByKeyId,
          to_reseal: signers.toReseal,
        }
      : null,
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
    // Without their last faults, which may say more than the public should read.
    threads: running.map(({ last_fault: _, ...thread }) => thread),
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
