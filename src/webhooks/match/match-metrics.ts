import type { Metrics } from "../../runtime/metrics.ts";
import { statsMetrics } from "../../runtime/stats-metrics.ts";
import type { MatchThreadStats } from "./rpc.ts";

/** Registers the metrics of the matching thread. */
export function registerMatchMetrics(metrics: Metrics, stats: () => Promise<MatchThreadStats>): void {
  const { counter, gauge } = statsMetrics(metrics, stats);
  counter(
    "webhook_matching_events_total",
    "Events that were matched against subscriptions of webhooks and streams.",
    [],
    (metric, now) => metric.inc(now.events),
  );
  counter("webhook_matching_seconds_total", "Time spent on matching.", [], (metric, now) =>
    metric.inc(now.busyMs / 1000),
  );
  counter(
    "webhook_matching_over_budget_total",
    "Subscriptions that were stopped because their owner's regular expressions exceeded the time budget.",
    [],
    (metric, now) => metric.inc(now.overBudget),
  );
  gauge("webhook_matching_owners", "Owners with a matching budget account.", (now) => now.owners);
}
