import type { Metrics } from "../../runtime/metrics.ts";
import { statsMetrics } from "../../runtime/stats-metrics.ts";
import type { DeliveryNodeStats } from "../rpc.ts";
import { ERROR_RESPONSES } from "./classify-outcome.ts";

/** Registers the metrics of webhook deliveries. */
export function registerDeliveryMetrics(metrics: Metrics, stats: () => Promise<DeliveryNodeStats>): void {
  const { counter, gauge, gaugeBy, durations } = statsMetrics(metrics, stats);
  counter(
    "webhook_attempts_total",
    "Delivery attempts by response (http_2xx and so on, or the error class) and outcome.",
    ["response", "outcome"],
    (metric, { attempts }) => {
      // A series that begins with its first event has no increase.
      for (const response of ERROR_RESPONSES)
        for (const outcome of ["retry", "failed"]) metric.inc({ response, outcome }, 0);
      for (const { response, outcome, count } of attempts) metric.inc({ response, outcome }, count);
    },
  );
  durations("webhook_call_seconds", "Duration of calls to webhooks.", (now) => now.callDurations);
  counter(
    "webhook_dropped_total",
    "Deliveries that were dropped: they waited too long, or the webhook's queue was full.",
    [],
    (metric, now) => metric.inc(now.dropped),
  );
  counter(
    "webhook_deactivated_total",
    "Webhooks that the node deactivated: the receiver failed repeatedly or responded with 410, or the expressions cost too much.",
    [],
    (metric, now) => metric.inc(now.deactivated),
  );
  counter(
    "webhook_published_events_total",
    "Events that were published from the outbox.",
    [],
    (metric, now) => metric.inc(now.publishedEvents),
  );
  counter("webhook_queued_deliveries_total", "Deliveries that were queued for events.", [], (metric, now) =>
    metric.inc(now.queuedDeliveries),
  );
  counter(
    "webhook_skipped_events_total",
    "Events that were skipped because of a fault of the node.",
    [],
    (metric, now) => metric.inc(now.skippedEvents),
  );
  counter(
    "webhook_left_events_total",
    "Events that this node left to other nodes, because it was filling, behind a gap or away for days.",
    [],
    (metric, now) => metric.inc(now.leftEvents),
  );
  gaugeBy("state", "webhook_deliveries", "Stored deliveries by state.", (now) => now.deliveries);
  gauge("webhook_oldest_due_seconds", "Age of the oldest due delivery.", (now) => now.oldestDueMs / 1000);
  gauge("webhook_calls_in_flight", "Calls to webhooks in flight.", (now) => now.inFlight);
  gauge("webhook_waiting", "Webhooks that wait for a call slot.", (now) => now.waiting);
  gauge("webhook_slow", "Webhooks whose last call was slow.", (now) => now.slowWebhooks);
  gauge("webhook_subscribed", "Active webhooks.", (now) => now.subscribedWebhooks);
  gauge("webhook_backpressure", "1 while the delivery queue is full and events wait in the outbox.", (now) =>
    now.isBackpressured ? 1 : 0,
  );
}
