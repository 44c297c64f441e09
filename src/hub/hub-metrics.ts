import type { Metrics } from "../runtime/metrics.ts";
import { statsMetrics } from "../runtime/stats-metrics.ts";
import type { HubStats } from "./rpc.ts";

/** Registers the metrics of the hub's thread. */
export function registerHubMetrics(metrics: Metrics, stats: () => Promise<HubStats>): void {
  const { counter, gauge, gaugeBy } = statsMetrics(metrics, stats);
  counter(
    "hub_calls_total",
    "Ended gRPC calls by method and code.",
    ["method", "code"],
    (metric, { methods }) => {
      for (const [method, { calls }] of Object.entries(methods))
        for (const [code, count] of Object.entries(calls)) metric.inc({ method, code }, count);
    },
  );
  counter(
    "hub_call_seconds_total",
    "Time of ended unary gRPC calls by method.",
    ["method"],
    (metric, { methods }) => {
      for (const [method, { seconds }] of Object.entries(methods)) metric.inc({ method }, seconds);
    },
  );
  counter(
    "hub_rows_total",
    "Items of lists and responses of streams by method.",
    ["method"],
    (metric, { methods }) => {
      for (const [method, { rows }] of Object.entries(methods)) metric.inc({ method }, rows);
    },
  );
  gauge("hub_subscribers", "Streams of hub events.", ({ events }) => events?.subscribers.subscribers ?? null);
  gauge(
    "hub_subscriber_lag_events",
    "Events that the slowest stream of hub events has before it.",
    ({ events }) => events?.subscribers.maxLagEvents ?? null,
  );
  counter("hub_sent_events_total", "Hub events that were sent to streams.", [], (metric, { events }) =>
    metric.inc(events?.subscribers.sentEvents ?? 0),
  );
  counter(
    "hub_ended_subscribers_total",
    "Ended streams of hub events by reason.",
    ["reason"],
    (metric, { events }) => {
      for (const [reason, count] of Object.entries(events?.subscribers.ended ?? {}))
        metric.inc({ reason }, count);
    },
  );
  gauge(
    "hub_log_events",
    "Events from the oldest to the newest of the log of hub events.",
    ({ events }) => events?.log.events ?? null,
  );
  gaugeBy(
    "shard",
    "hub_log_oldest_timestamp_seconds",
    "Time of the oldest block of the log of hub events by shard, in unix seconds.",
    ({ events }) =>
      events &&
      Object.fromEntries(
        events.log.shards.flatMap(({ shard, oldestAt }) => (oldestAt === null ? [] : [[shard, oldestAt]])),
      ),
  );
}
