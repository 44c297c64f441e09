import type { Metrics } from "../../runtime/metrics.ts";
import { statsMetrics } from "../../runtime/stats-metrics.ts";
import type { StateWriterStats } from "./state-writer.ts";

/** Registers the metrics of the state writer. */
export function registerStateMetrics(metrics: Metrics, stats: () => Promise<StateWriterStats>): void {
  const { counter, gauge } = statsMetrics(metrics, stats);
  counter("state_commits_total", "Transactions of the state writer.", [], (metric, now) =>
    metric.inc(now.commits),
  );
  counter("state_writes_total", "Writes in these transactions.", [], (metric, now) =>
    metric.inc(now.committedCalls),
  );
  counter(
    "state_expired_writes_total",
    "Writes that timed out because the database was locked or busy for too long.",
    [],
    (metric, now) => metric.inc(now.expiredCalls),
  );
  gauge("state_waiting_writes", "Writes that wait for a transaction.", (now) => now.waiting);
  gauge(
    "state_stalled_seconds",
    "How long another process has held the lock of the state database.",
    (now) => now.stalledMs / 1000,
  );
}
