import type { Metrics } from "../../runtime/metrics.ts";
import { statsMetrics } from "../../runtime/stats-metrics.ts";
import type { StateWriterStats } from "./state-writer.ts";

/** Registers what the state writer tells of itself. */
export function registerStateMetrics(metrics: Metrics, stats: () => Promise<StateWriterStats>): void {
  const { counter, gauge } = statsMetrics(metrics, stats);
  counter("state_commits_total", "Transactions of the state writer.", [], (metric, now) =>
    metric.inc(now.commits),
  );
  counter("state_writes_total", "Writes that these transactions held.", [], (metric, now) =>
    metric.inc(now.committedCalls),
  );
  counter(
    "state_expired_writes_total",
    "Writes that were given up because the database was locked or busy for too long.",
    [],
    (metric, now) => metric.inc(now.expiredCalls),
  );
  gauge("state_waiting_writes", "Writes that wait for their transaction.", (now) => now.waiting);
  gauge(
    "state_stalled_seconds",
    "For how long another process has held the lock of the state database.",
    (now) => now.stalledMs / 1000,
  );
}
