import type { Metrics } from "../runtime/metrics.ts";
import { statsMetrics } from "../runtime/stats-metrics.ts";
import type { WritesStats } from "./rpc.ts";

/** Registers the metrics of writes. */
export function registerWriteMetrics(metrics: Metrics, stats: () => Promise<WritesStats>): void {
  const { counter, gauge } = statsMetrics(metrics, stats);
  counter(
    "writes_messages_total",
    "Messages of writes by what was answered.",
    ["outcome"],
    (metric, { answered }) => {
      for (const [outcome, count] of Object.entries(answered)) metric.inc({ outcome }, count);
    },
  );
  counter(
    "writes_replayed_total",
    "Writes that were answered with the outcome of an earlier one with the same idempotency key.",
    [],
    (metric, now) => metric.inc(now.replayed),
  );
  counter("writes_resubmitted_total", "Queued messages that were submitted again.", [], (metric, now) =>
    metric.inc(now.resubmitted),
  );
  counter(
    "writes_ended_total",
    "Queued messages that have ended after their answer, by state.",
    ["state"],
    (metric, now) => {
      metric.inc({ state: "merged" }, now.mergedLater);
      metric.inc({ state: "refused" }, now.refusedLater);
    },
  );
  gauge("writes_under_way", "Writes that have no answer yet.", (now) => now.underWay);
  gauge("writes_queued", "Messages that wait for the network.", ({ queue }) => queue?.count ?? null);
  gauge(
    "writes_oldest_queued_timestamp_seconds",
    "When the oldest of them was written; no value without one.",
    ({ queue }) => queue?.oldestAt ?? null,
  );
}
