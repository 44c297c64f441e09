import type { Metrics } from "../../runtime/metrics.ts";
import { statsMetrics } from "../../runtime/stats-metrics.ts";
import type { MatchThreadStats } from "./rpc.ts";

/** Registers what the matching thread tells of itself. */
export function registerMatchMetrics(metrics: Metrics, stats: () => Promise<MatchThreadStats>): void {
  const { counter, gauge } = statsMetrics(metrics, stats);
  counter(
    "webhook_matching_events_total",
    "Events that were matched against subscriptions.",
    [],
    (metric, now) => metric.inc(now.events),
  );
  counter("webhook_matching_seconds_total", "Time that matching took.", [], (metric, now) =>
    metric.inc(now.busyMs / 1000),
  );
  counter(
    "webhook_matching_over_budget_total",
    "Subscriptions whose regular expressions took more time than their owner may use.",
    [],
    (metric, now) => metric.inc(now.overBudget),
  );
  gauge("webhook_matching_owners", "Owners whose costs of matching are counted.", (now) => now.owners);
}
