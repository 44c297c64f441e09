import { counter, counters, durations, figureOf, gauge, gaugeBy } from "../../runtime/figures/figures.ts";
import type { DeliveryNodeStats } from "../rpc.ts";
import { ERROR_RESPONSES } from "./classify-outcome.ts";
import { DeliveryCounters } from "./delivery-stats.ts";

/** The stats of a thread that has not started: there are neither webhooks nor deliveries. */
export const DELIVERY_AT_REST: DeliveryNodeStats = {
  ...new DeliveryCounters().stats(),
  inFlight: 0,
  waiting: 0,
  oldestDueMs: 0,
  slowWebhooks: 0,
  publishedEvents: 0,
  publishedKinds: {},
  queuedDeliveries: 0,
  skippedEvents: 0,
  leftEvents: 0,
  subscribedWebhooks: 0,
  isBackpressured: false,
  deliveries: { queued: 0, delivered: 0, failed: 0, dropped: 0 },
};

const figure = figureOf<DeliveryNodeStats>();

/** Prometheus sees no increase in a series that begins with its first event, so all series start at 0. */
const NO_ATTEMPTS = ERROR_RESPONSES.flatMap((response) =>
  ["retry", "failed"].map((outcome) => ({ response, outcome, count: 0 })),
);

export const deliveryFigures = [
  figure({
    read: ({ deliveries }) => deliveries,
    metric: gaugeBy("state", "webhook_deliveries", "Stored deliveries by state."),
    status: "webhooks.deliveries",
    history: {
      series: "deliveries_waiting",
      minute: "max",
      of: (deliveries) => deliveries?.queued,
      plot: { title: "Waiting", label: "deliveries", unit: "rate" },
      queue: {
        label: "Deliveries to webhooks",
        words: "Queued, including retries that are not due yet.",
        unit: "count",
      },
    },
  }),
  figure({
    read: ({ oldestDueMs }) => oldestDueMs / 1000,
    metric: gauge("webhook_oldest_due_seconds", "Age of the oldest due delivery."),
    status: ["webhooks.oldest_due_secs", Math.round],
    history: {
      series: "delivery_oldest_due_secs",
      minute: "max",
      queue: {
        label: "Oldest due",
        words: "How long a delivery waits although its time has come.",
        unit: "secs",
      },
    },
  }),
  figure({
    read: ({ attempts }) => attempts,
    metric: {
      ...counters(
        "webhook_attempts_total",
        "Delivery attempts by response (http_2xx and so on, or the error class) and outcome.",
        ["response", "outcome"],
      ),
      samples: (attempts) =>
        [...NO_ATTEMPTS, ...attempts].map(({ count, ...labels }) => [labels, count] as const),
    },
    history: {
      series: "deliveries_per_second",
      minute: "mean",
      rate: 1,
      of: (attempts) => attempts.reduce((sum, { count }) => sum + count, 0),
      plot: { title: "Outgoing calls per second", label: "webhook attempts", unit: "rate" },
    },
    lane: {
      name: "deliveries",
      of(attempts) {
        const outcomes: Record<string, number> = {};
        for (const { outcome, count } of attempts) outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
        return outcomes;
      },
    },
  }),
  figure({
    read: ({ publishedKinds }) => publishedKinds,
    lane: { name: "events", of: (kinds) => kinds },
  }),
  figure({
    read: ({ callDurations }) => callDurations,
    metric: durations("webhook_call_seconds", "Duration of calls to webhooks."),
  }),
  figure({
    read: ({ dropped }) => dropped,
    metric: counter(
      "webhook_dropped_total",
      "Deliveries that were dropped: they waited too long, or the webhook's queue was full.",
    ),
  }),
  figure({
    read: ({ skippedEvents }) => skippedEvents,
    metric: counter(
      "webhook_skipped_events_total",
      "Events that were skipped because of a fault of the node.",
    ),
  }),
  figure({
    read: ({ isBackpressured }) => isBackpressured,
    metric: gauge(
      "webhook_backpressure",
      "1 while the delivery queue is full and events wait in the outbox.",
    ),
  }),
  figure({
    read: ({ slowWebhooks }) => slowWebhooks,
    metric: gauge("webhook_slow", "Webhooks whose last call was slow."),
    status: "webhooks.slow",
  }),
  figure({ read: ({ subscribedWebhooks }) => subscribedWebhooks, status: "webhooks.subscribed" }),
  figure({ read: ({ inFlight }) => inFlight, status: "webhooks.calls_in_flight" }),
  figure({ read: ({ waiting }) => waiting, status: "webhooks.waiting" }),
];
