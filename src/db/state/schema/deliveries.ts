import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

/**
 * Webhook deliveries. `webhook` is the `seq` of a webhook and `event` that of an event. Rows of a deleted webhook are never
 * read, and maintenance deletes them. Times are unix seconds unless their name ends in `_ms`.
 */

/** An event with deliveries. The body is stored once for all its receivers. */
export const deliveryEvents = sqliteTable("delivery_events", {
  seq: integer().primaryKey({ autoIncrement: true }),
  eventId: text("event_id").notNull().unique(),
  kind: text().notNull(),
  /** The JSON that is sent, byte for byte. */
  body: text().notNull(),
  isTest: integer("is_test").notNull(),
  createdAt: integer("created_at").notNull(),
});

/** One event for one webhook. */
export const deliveries = sqliteTable(
  "deliveries",
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    /** The id that the receiver sees, the same for all attempts. */
    messageId: text("message_id").notNull().unique(),
    event: integer().notNull(),
    webhook: integer().notNull(),
    state: text().notNull(),
    /** Attempts since it was last queued. */
    attempts: integer().notNull(),
    createdAt: integer("created_at").notNull(),
    /** When the next attempt may start, or when the lease of the current one ends; null when no attempt will follow. */
    dueAtMs: integer("due_at_ms"),
    /** The end of the lease of the current attempt. */
    leaseEndsAtMs: integer("lease_ends_at_ms"),
    /** The boot of the process that has the lease. */
    claimedBy: text("claimed_by"),
    endedAt: integer("ended_at"),
  },
  (t) => [
    uniqueIndex("deliveries_by_event").on(t.event, t.webhook),
    index("deliveries_queued").on(t.webhook, t.dueAtMs).where(sql`due_at_ms IS NOT NULL`),
    index("deliveries_leased").on(t.leaseEndsAtMs).where(sql`lease_ends_at_ms IS NOT NULL`),
    index("deliveries_by_state").on(t.webhook, t.state, t.createdAt),
    index("deliveries_by_end").on(t.endedAt).where(sql`ended_at IS NOT NULL`),
  ],
);

/** The outcome of each attempt. `status` is that of the response; `error` is the error class when there was none. */
export const deliveryAttempts = sqliteTable(
  "delivery_attempts",
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    delivery: integer().notNull(),
    atMs: integer("at_ms").notNull(),
    status: integer(),
    error: text(),
    durationMs: integer("duration_ms").notNull(),
    /** The start of the response body. */
    answer: text().notNull(),
  },
  (t) => [index("delivery_attempts_by_delivery").on(t.delivery)],
);

/**
 * Attempts of a webhook by the step of time in which they ended and by the class of their duration, so that no query counts them
 * (`src/webhooks/store/attempt-stats.ts`).
 */
export const attemptStats = sqliteTable(
  "attempt_stats",
  {
    webhook: integer().notNull(),
    startsAt: integer("starts_at").notNull(),
    durationClass: integer("duration_class").notNull(),
    attempts: integer().notNull(),
    /** Those after which the delivery was over. */
    delivered: integer().notNull(),
    failed: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.webhook, t.startsAt, t.durationClass] }),
    index("attempt_stats_by_time").on(t.startsAt),
  ],
);

/** Deliveries of all webhooks by state, so that no query counts them. */
export const deliveryTotals = sqliteTable("delivery_totals", {
  state: text().primaryKey(),
  count: integer().notNull(),
});

/** Calls to a webhook that started within a short interval from `starts_at_ms` on, for its rate limit. */
export const deliveryRates = sqliteTable(
  "delivery_rates",
  {
    webhook: integer().notNull(),
    startsAtMs: integer("starts_at_ms").notNull(),
    count: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.webhook, t.startsAtMs] })],
);

/** Health of a webhook. Each webhook has a row from its creation on. */
export const webhookHealth = sqliteTable("webhook_health", {
  webhook: integer().primaryKey(),
  /** Rows of `deliveries` in that state. */
  queued: integer().notNull(),
  lastSuccessAt: integer("last_success_at"),
  /** When a single attempt last succeeded or failed. */
  lastFailureAt: integer("last_failure_at"),
  /** Consecutive failed deliveries, and when the first of them failed. */
  consecutiveFailures: integer("consecutive_failures").notNull(),
  failingSince: integer("failing_since"),
  /** Deliveries that expired in the queue, or did not fit into it. */
  dropped: integer().notNull(),
  /** Set when the node deactivates the webhook. */
  deactivatedAt: integer("deactivated_at"),
  deactivationReason: text("deactivation_reason"),
  /** When the number of due deliveries first exceeded the rate of calls. */
  behindSinceMs: integer("behind_since_ms"),
  /** When the receiver's requested backoff ends. */
  heldUntilMs: integer("held_until_ms"),
});

/**
 * The last change of each webhook. A reader that has seen all changes up to a version continues after it. The row of a
 * deleted webhook stays for a while, so that readers notice the deletion.
 */
export const webhookChanges = sqliteTable(
  "webhook_changes",
  {
    version: integer().primaryKey({ autoIncrement: true }),
    webhookId: text("webhook_id").notNull().unique(),
    /** When the webhook was deleted. */
    deletedAt: integer("deleted_at"),
  },
  (t) => [index("webhook_changes_deleted").on(t.deletedAt).where(sql`deleted_at IS NOT NULL`)],
);
