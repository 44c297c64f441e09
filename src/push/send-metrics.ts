import type { Metrics } from "../runtime/metrics.ts";
import { statsMetrics } from "../runtime/stats-metrics.ts";
import type { FanOutStats } from "./fan-out.ts";
import { FAILURE_REASONS } from "./post-batch.ts";

/** Registers the metrics of notification sends. */
export function registerSendMetrics(metrics: Metrics, stats: () => Promise<FanOutStats>): void {
  const { counter, gauge, durations } = statsMetrics(metrics, stats);
  counter(
    "send_tokens_total",
    "Tokens of notification campaigns by client host and outcome; hosts beyond the first hundred count as other.",
    ["host", "outcome"],
    (metric, { tokens }) => {
      for (const { host, outcome, count } of tokens) metric.inc({ host, outcome }, count);
    },
  );
  counter(
    "send_calls_total",
    "Calls to clients by host and outcome: response, or the error class.",
    ["host", "outcome"],
    (metric, { calls }) => {
      for (const { host, outcome, count } of calls) metric.inc({ host, outcome }, count);
    },
  );
  // The hosts are not known before their first call. A counter without them can exist before its first event, so that a rate sees it.
  counter(
    "send_failed_calls_total",
    "Calls to clients without a response, by the class of the error.",
    ["class"],
    (metric, { calls }) => {
      for (const reason of FAILURE_REASONS) metric.inc({ class: reason }, 0);
      for (const { outcome, count } of calls)
        if (outcome !== "response") metric.inc({ class: outcome }, count);
    },
  );
  durations("send_call_seconds", "Duration of calls to clients.", (now) => now.callDurations);
  gauge("send_calls_in_flight", "Calls to clients in flight.", (now) => now.inFlight);
  gauge("send_batches_waiting", "Batches that wait for a call slot.", (now) => now.waiting);
  gauge("send_batch_wait_seconds", "Age of the oldest waiting batch.", (now) => now.oldestWaitMs / 1000);
  gauge("send_hosts_down", "Client hosts that do not respond.", (now) => now.hostsDown);
  gauge("send_campaigns_running", "Running notification campaigns.", (now) => now.campaignsRunning);
  counter(
    "send_campaigns_taken_over_total",
    "Campaigns that this node has taken from a process that ended.",
    [],
    (metric, { campaignsTakenOver }) => metric.inc(campaignsTakenOver),
  );
  gauge(
    "send_campaigns_queued",
    "Campaigns that no node runs. Equal on all nodes: take the maximum, do not sum.",
    (now) => now.campaignsQueued,
  );
  gauge(
    "send_queue_age_seconds",
    "Age of the oldest campaign that no node runs. Equal on all nodes.",
    (now) => now.oldestQueuedSecs,
  );
}
