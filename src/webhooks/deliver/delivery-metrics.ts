import type { Metrics } from "../../runtime/metrics.ts";
import { statsMetrics } from "../../runtime/stats-metrics.ts";
import type { DeliveryNodeStats } from "../rpc.ts";

/** Registers what webhook deliveries tell of themselves. */
export function registerDeliveryMetrics(metrics: Metrics, figures: () => Promise<DeliveryNodeStats>): void {
  const { counter, gauge, gaugeBy, durations } = statsMetrics(metrics, figures);
  counter(
    "webhook_attempts_total",
    "Attempts to deliver, by what came back (http_2xx and the like, or the class of the error) and what followed.",
    ["answer", "verdict"],
    (metric, { attempts }) => {
      for (const { answer, verdict, count } of attempts) metric.inc({ answer, verdict }, count);
    },
  );
  durations("webhook_call_seconds", "How long calls to webhooks took.", (now) => now.callDurations);
  counter(
    "webhook_dropped_total",
    "Deliveries that waited too long for their turn, or would have had to.",
    [],
    (metric, now) => metric.inc(now.dropped),
  );
  counter(
    "webhook_deactivated_total",
    "Webhooks that the node deactivated: their receivers failed or wanted no more, or their expressions cost too much.",
    [],
    (metric, now) => metric.inc(now.deactivated),
  );
  counter("webhook_published_events_total", "Events that left the outbox.", [], (metric, now) =>
    metric.inc(now.publishedEvents),
  );
  counter("webhook_queued_deliveries_total", "Deliveries that events made.", [], (metric, now) =>
    metric.inc(now.queuedDeliveries),
  );
  counter(
    "webhook_passed_over_events_total",
    "Events that a fault of the node kept from being published.",
    [],
    (metric, now) => metric.inc(now.skippedEvents),
  );
  gaugeBy("state", "webhook_deliveries", "Deliveries on record, by state.", (now) => now.deliveries);
  gauge(
    "webhook_oldest_due_seconds",
    "How long the delivery has been due that waits longest for a call.",
    (now) => now.oldestDueMs / 1000,
  );
  gauge("webhook_calls_in_flight", "Calls to webhooks that wait for an answer.", (now) => now.inFlight);
  gauge("webhook_waiting", "Webhooks that wait for their turn.", (now) => now.waiting);
  gauge("webhook_slow", "Webhooks whose last call was slow.", (now) => now.slowWebhooks);
  gauge("webhook_subscribed", "Active webhooks.", (now) => now.subscribedWebhooks);
  gauge("webhook_held_up", "1 while events wait because the queue is full.", (now) =>
    now.isBackpressured ? 1 : 0,
  );
}
