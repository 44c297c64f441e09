import type { Config } from "../config/schema.ts";
import { registerDeliveryMetrics } from "../delivery/delivery-metrics.ts";
import type { DeliveryNode } from "../delivery/rpc.ts";
import type { IndexDatabase } from "../index/database.ts";
import { isDemo } from "../index/identity.ts";
import { readTotals } from "../index/totals.ts";
import { registerIngestMetrics } from "../ingest/metrics.ts";
import { type IngestClient, ingestStats } from "../ingest/rpc.ts";
import { registerMaintenanceMetrics } from "../maintenance/metrics.ts";
import { type MaintenanceClient, maintenanceStats } from "../maintenance/rpc.ts";
import type { FanOut } from "../notify/fan-out.ts";
import type { Common } from "../process/common.ts";
import { registerUpstreamMetrics } from "../upstream/metrics.ts";
import type { NodeOps } from "./node-ops.ts";
import { type UpstreamWatch, upstreamStatus } from "./upstream-watch.ts";

/** The parts of the node that tell of themselves. */
interface NodeParts {
  readonly common: Common;
  readonly db: IndexDatabase;
  readonly ingest: IngestClient;
  readonly maintenance: MaintenanceClient;
  readonly fanOut: FanOut;
  readonly delivery: DeliveryNode;
  /** Of the node that is followed, if any. */
  readonly upstream: UpstreamWatch | undefined;
  /** Whether every part runs. */
  readonly isStarted: () => boolean;
}

/** What the main thread answers the HTTP workers, but for their own figures. */
export function createNodeOps(parts: NodeParts): Omit<NodeOps, "metrics"> {
  const { common, db, ingest, maintenance, delivery, upstream, isStarted } = parts;
  const { config, metrics, shutdown } = common;
  registerIngestMetrics(metrics, { totals: () => readTotals(db), stats: () => ingestStats(ingest) });
  registerMaintenanceMetrics(metrics, () => maintenanceStats(maintenance));
  registerDeliveryMetrics(metrics, () => delivery.figures());
  if (upstream) registerUpstreamMetrics(metrics, () => upstream.latest());
  return {
    notReadyReason() {
      if (shutdown.signal.aborted) return "the node is shutting down";
      return isStarted() ? upstream?.behindReason() : "the node is starting";
    },
    staleReason: async () => upstream?.behindReason(),
    status: () => nodeStatus(config, parts),
  };
}

async function nodeStatus(config: Config, parts: NodeParts) {
  const { db, ingest, maintenance, fanOut, delivery, upstream } = parts;
  const [stats, swept, sends, deliveries] = await Promise.all([
    ingestStats(ingest),
    maintenanceStats(maintenance),
    fanOut.figures(),
    delivery.figures(),
  ]);
  return {
    network: config.protocol.network,
    demo: isDemo(db),
    index: { size_bytes: db.sizeBytes(), rows: readTotals(db) },
    upstream: upstream ? upstreamStatus(upstream) : null,
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
    webhooks: {
      outbox_events: stats.outbox.events,
      outbox_oldest_at: stats.outbox.oldestAt,
      subscribed: deliveries.subscribedWebhooks,
      deliveries: deliveries.deliveries,
      oldest_due_secs: Math.round(deliveries.oldestDueMs / 1000),
      calls_in_flight: deliveries.inFlight,
      waiting: deliveries.waiting,
      slow: deliveries.slowWebhooks,
    },
  };
}
