import type { Metrics } from "../runtime/metrics.ts";
import { statsMetrics } from "../runtime/stats-metrics.ts";
import type { FanOutStats } from "./fan-out.ts";

/** Registers what sends tell of themselves. */
export function registerSendMetrics(metrics: Metrics, figures: () => Promise<FanOutStats>): void {
  const { counter, gauge, durations } = statsMetrics(metrics, figures);
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
    "Calls to clients by host and by what came back: answered, or the class of the error.",
    ["host", "outcome"],
    (metric, { calls }) => {
      for (const { host, outcome, count } of calls) metric.inc({ host, outcome }, count);
    },
  );
  durations("send_call_seconds", "How long calls to clients took.", (now) => now.callDurations);
  gauge("send_calls_in_flight", "Calls to clients that wait for an answer.", (now) => now.inFlight);
  gauge("send_batches_waiting", "Batches that wait for their turn.", (now) => now.waiting);
  gauge("send_batch_wait_seconds", "How long the first batch has waited.", (now) => now.oldestWaitMs / 1000);
  gauge("send_hosts_down", "Client hosts that do not answer.", (now) => now.hostsDown);
  gauge("send_campaigns_running", "Notification campaigns that run.", (now) => now.campaignsRunning);
  gauge("send_campaigns_queued", "Campaigns that wait for their turn.", (now) => now.campaignsQueued);
  gauge("send_queue_age_seconds", "Age of the oldest campaign that waits.", (now) => now.oldestQueuedSecs);
}
