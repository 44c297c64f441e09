import {
  flag,
  index,
  key,
  nullable,
  sequence,
  small,
  table,
  text,
  unique,
  uuid,
  whole,
} from "../../db/state/table.ts";

/**
 * Webhook deliveries. `webhook` is the `seq` of a webhook and `event` that of an event. Rows of a deleted webhook are never
 * read, and maintenance deletes them. Times are unix seconds unless their name ends in `_ms`.
 */

/** An event with deliveries. The body is stored once for all receivers. */
export const deliveryEvents = table("delivery_events", {
  seq: sequence(),
  event_id: unique(text()),
  kind: text(),
  /** The JSON body, byte for byte. */
  body: text(),
  is_test: flag(),
  created_at: whole(),
});

/** One event for one webhook. */
export const deliveries = table(
  "deliveries",
  {
    seq: sequence(),
    /** The id that the receiver sees, the same for all attempts. */
    message_id: unique(text()),
    event: whole(),
    webhook: whole(),
    state: text(),
    /** Attempts since it was last queued. */
    attempts: small(),
    created_at: whole(),
    /** When the next attempt may start, or when the lease of the current one ends; null if no attempt will follow. */
    due_at_ms: nullable(whole()),
    /** The end of the lease of the current attempt. */
    lease_ends_at_ms: nullable(whole()),
    /** The boot of the process that holds the lease. */
    claimed_by: nullable(uuid()),
    ended_at: nullable(whole()),
    /** The last replay that queued it; null if none did. */
    replay_id: nullable(text()),
  },
  {
    indexes: [
      index("deliveries_by_event", ["event", "webhook"], { isUnique: true }),
      index("deliveries_queued", ["webhook", "due_at_ms", "seq"], { where: "due_at_ms IS NOT NULL" }),
      index("deliveries_leased", ["webhook", "lease_ends_at_ms"], {
        where: "lease_ends_at_ms IS NOT NULL",
        sqlite: { columns: ["lease_ends_at_ms"] },
      }),
      index("deliveries_by_state", ["webhook", "state", "created_at", "seq"]),
      index("deliveries_by_end", ["ended_at"], { where: "ended_at IS NOT NULL" }),
    ],
    cleared: ["lease_ends_at_ms", "claimed_by"],
  },
);

/** The outcome of each attempt. `status` is that of the response; `error` is the error class if there was none. */
export const deliveryAttempts = table(
  "delivery_attempts",
  {
    seq: sequence(),
    delivery: whole(),
    at_ms: whole(),
    status: nullable(whole()),
    error: nullable(text()),
    duration_ms: whole(),
    /** The start of the response body. */
    answer: text(),
  },
  {
    indexes: [index("delivery_attempts_by_delivery", ["delivery"])],
    isPartitioned: true,
  },
);

/**
 * Attempts of a webhook by the time step in which they ended and by the class of their duration, so that no query has to count them
 * (`src/webhooks/store/attempt-stats.ts`).
 */
export const attemptStats = table(
  "attempt_stats",
  {
    webhook: whole(),
    starts_at: whole(),
    duration_class: small(),
    attempts: whole(),
    /** Attempts after which the delivery was finished. */
    delivered: whole(),
    failed: whole(),
  },
  {
    key: ["webhook", "starts_at", "duration_class"],
    indexes: [
      index("attempt_stats_by_time", ["starts_at"]),
      index("attempt_stats_failed", ["starts_at", "webhook"], { where: "failed > 0" }),
    ],
  },
);

/** Deliveries of all webhooks by state, so that no query has to count them. */
export const deliveryTotals = table(
  "delivery_totals",
  {
    state: key(text()),
    count: whole(),
  },
  {
    summed: "count",
  },
);

/** Calls to a webhook that started within a short interval from `starts_at_ms` on, for its rate limit. */
export const deliveryRates = table(
  "delivery_rates",
  {
    webhook: whole(),
    starts_at_ms: whole(),
    count: whole(),
  },
  {
    key: ["webhook", "starts_at_ms"],
  },
);

/** Health of a webhook. Each webhook has a row from its creation. */
export const webhookHealth = table(
  "webhook_health",
  {
    webhook: key(whole()),
    /** The number of queued deliveries. */
    queued: whole(),
    last_success_at: nullable(whole()),
    /** When a single attempt last succeeded or failed. */
    last_failure_at: nullable(whole()),
    /** Consecutive failed deliveries, and when the first of them failed. */
    consecutive_failures: whole(),
    failing_since: nullable(whole()),
    /** Deliveries that expired in the queue or did not fit into it. */
    dropped: whole(),
    /** Set when the node deactivates the webhook. */
    deactivated_at: nullable(whole()),
    deactivation_reason: nullable(text()),
    /** When the due deliveries first exceeded the allowed rate of calls. */
    behind_since_ms: nullable(whole()),
    /** Until when the receiver requested no calls. */
    held_until_ms: nullable(whole()),
  },
  {
    indexes: [
      index("webhook_health_failing", ["failing_since"], { where: "failing_since IS NOT NULL" }),
      index("webhook_health_deactivated", ["deactivated_at"], { where: "deactivated_at IS NOT NULL" }),
    ],
  },
);

/**
 * The last change of each webhook. A reader that has seen all changes up to a version continues after it. The row of a deleted webhook is
 * kept for a while, so that readers notice the deletion.
 */
export const webhookChanges = table(
  "webhook_changes",
  {
    version: sequence(),
    webhook_id: unique(text()),
    /** When the webhook was deleted. */
    deleted_at: nullable(whole()),
  },
  {
    indexes: [index("webhook_changes_deleted", ["deleted_at"], { where: "deleted_at IS NOT NULL" })],
  },
);
