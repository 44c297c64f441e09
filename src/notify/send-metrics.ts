import { Counter, Gauge } from "prom-client";
import type { Metrics } from "../process/metrics.ts";
import type { FanOutFigures } from "./fan-out.ts";
import { CALL_SECONDS } from "./send-stats.ts";

/**
 * Registers what sends tell of themselves; the figures are asked for when somebody scrapes. The worker counts since its
 * start, as a counter does, so each is set to what it says.
 */
export function registerSendMetrics(
  { registry, prefix }: Metrics,
  figures: () => Promise<FanOutFigures>,
): void {
  const registers = [registry];
  const counter = (
    name: string,
    help: string,
    labelNames: readonly string[],
    collect: (metric: Counter, now: FanOutFigures) => void,
  ) =>
    new Counter({
      name: prefix + name,
      help,
      labelNames: [...labelNames],
      registers,
      async collect() {
        const now = await figures();
        this.reset();
        collect(this, now);
      },
    });
  const gauge = (name: string, help: string, read: (now: FanOutFigures) => number) =>
    new Gauge({
      name: prefix + name,
      help,
      registers,
      async collect() {
        this.set(read(await figures()));
      },
    });

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
  counter(
    "send_call_seconds_bucket",
    "Calls to clients that took up to so many seconds, as the buckets of a histogram.",
    ["le"],
    (metric, { callsByDuration }) => {
      for (const [at, count] of callsByDuration.entries()) {
        metric.inc({ le: String(CALL_SECONDS[at] ?? "+Inf") }, count);
      }
    },
  );
  counter("send_call_seconds_sum", "Seconds that all calls to clients took.", [], (metric, now) =>
    metric.inc(now.callSecondsSum),
  );
  counter("send_call_seconds_count", "Calls to clients.", [], (metric, now) =>
    metric.inc(now.callsByDuration.at(-1) ?? 0),
  );
  gauge("send_calls_in_flight", "Calls to clients that wait for an answer.", (now) => now.inFlight);
  gauge("send_batches_waiting", "Batches that wait for their turn.", (now) => now.waiting);
  gauge("send_batch_wait_seconds", "How long the first batch has waited.", (now) => now.oldestWaitMs / 1000);
  gauge("send_hosts_down", "Client hosts that do not answer.", (now) => now.hostsDown);
  gauge("send_campaigns_running", "Notification campaigns that run.", (now) => now.campaignsRunning);
  gauge("send_campaigns_queued", "Campaigns that wait for their turn.", (now) => now.campaignsQueued);
  gauge("send_queue_age_seconds", "Age of the oldest campaign that waits.", (now) => now.oldestQueuedSecs);
}
