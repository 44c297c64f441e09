import { counterBy, counters, durations, figureOf, gauge } from "../runtime/figures/figures.ts";
import type { FanOutStats } from "./fan-out/fan-out.ts";
import { FAILURE_REASONS } from "./fan-out/post-batch.ts";
import { SendCounters } from "./fan-out/send-stats.ts";

/** The stats of a thread that has not started: no campaign runs or waits. */
export const SENDS_AT_REST: FanOutStats = {
  ...new SendCounters().stats(),
  inFlight: 0,
  waiting: 0,
  oldestWaitMs: 0,
  hostsDown: 0,
  campaignsRunning: 0,
  campaignsQueued: 0,
  oldestQueuedSecs: 0,
};

const figure = figureOf<FanOutStats>();

/**
 * Counts calls without a response by error class, and not by host, because hosts are unknown before their first call: each class exists
 * before its first event, so that a rate includes that event.
 */
function failedCalls({ calls }: FanOutStats): Record<string, number> {
  const failed: Record<string, number> = Object.fromEntries(FAILURE_REASONS.map((reason) => [reason, 0]));
  for (const { outcome, count } of calls)
    if (outcome !== "response") failed[outcome] = (failed[outcome] ?? 0) + count;
  return failed;
}

export const sendFigures = [
  figure({
    read: ({ campaignsRunning, campaignsQueued }) => campaignsRunning + (campaignsQueued ?? 0),
    history: {
      series: "campaigns",
      minute: "max",
      queue: { label: "Notification campaigns", words: "Running or waiting to run.", unit: "count" },
    },
  }),
  figure({ read: ({ campaignsRunning }) => campaignsRunning, status: "send.campaigns_running" }),
  figure({ read: ({ campaignsQueued }) => campaignsQueued, status: "send.campaigns_queued" }),
  figure({
    read: ({ oldestQueuedSecs }) => oldestQueuedSecs,
    metric: gauge(
      "send_queue_age_seconds",
      "Age of the oldest campaign that no node runs. Equal on all nodes.",
    ),
    status: "send.oldest_queued_secs",
  }),
  figure({
    read: ({ tokens }) => tokens,
    metric: {
      ...counters(
        "send_tokens_total",
        "Tokens of notification campaigns by client host and outcome; hosts beyond the first hundred count as other.",
        ["host", "outcome"],
      ),
      samples: (tokens) => tokens.map(({ count, ...labels }) => [labels, count] as const),
    },
    history: {
      series: "pushes_per_second",
      minute: "mean",
      rate: 1,
      of: (tokens) =>
        tokens.reduce((sum, { outcome, count }) => (outcome === "not_attempted" ? sum : sum + count), 0),
      plot: { title: "Outgoing calls per second", label: "push tokens", unit: "rate" },
    },
  }),
  figure({
    read: failedCalls,
    metric: counterBy(
      "class",
      "send_failed_calls_total",
      "Calls to clients without a response, by the class of the error.",
    ),
  }),
  figure({
    read: ({ callDurations }) => callDurations,
    metric: durations("send_call_seconds", "Duration of calls to clients."),
  }),
  figure({
    read: ({ inFlight }) => inFlight,
    metric: gauge("send_calls_in_flight", "Calls to clients in flight."),
    status: "send.calls_in_flight",
  }),
  figure({
    read: ({ waiting }) => waiting,
    metric: gauge("send_batches_waiting", "Batches that wait for a call slot."),
    status: "send.batches_waiting",
  }),
  figure({
    read: ({ hostsDown }) => hostsDown,
    metric: gauge("send_hosts_down", "Client hosts that do not respond."),
    status: "send.hosts_down",
  }),
];
