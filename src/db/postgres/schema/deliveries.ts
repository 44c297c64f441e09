import { sql } from "drizzle-orm";
import { boolean, index, integer, pgTable, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { sequence, whole } from "./column.ts";

/**
 * Webhook deliveries. `webhook` is the `seq` of a webhook and `event` that of an event. Rows of a deleted webhook are never
 * read, and maintenance deletes them. Times are unix seconds unless their name ends in `_ms`.
 *
 * `delivery_attempts` is partitioned, which drizzle cannot express: it stands in `drizzle/postgres/by-hand.sql`.
 */

/** An event with deliveries. The body is stored once for all its receivers. */
export const deliveryEvents = pgTable("delivery_events", {
  seq: sequence("seq"),
  eventId: text("event_id").notNull().unique(),
  kind: text("kind").notNull(),
  /** The JSON that is sent, byte for byte. */
  body: text("body").notNull(),
  isTest: boolean("is_test").notNull(),
  createdAt: whole("created_at").notNull(),
});

/** One event for one webhook. */
export const deliveries = pgTable(
  "deliveries",
  {
    seq: sequence("seq"),
    /** The id that the receiver sees, the same for all attempts. */
    messageId: text("message_id").notNull().unique(),
    event: whole("event").notNull(),
    webhook: whole("webhook").notNull(),
    state: text("state").notNull(),
    /** Attempts since it was last queued. */
    attempts: integer("attempts").notNull(),
    createdAt: whole("created_at").notNull(),
    /** When the next attempt may start, or when the lease of the current one ends; null when no attempt will follow. */
    dueAtMs: whole("due_at_ms"),
    /** The end of the lease of the current attempt. */
    leaseEndsAtMs: whole("lease_ends_at_ms"),
    /** The boot of the node that makes the current attempt. */
    claimedBy: uuid("claimed_by"),
    endedAt: whole("ended_at"),
  },
  (t) => [
    uniqueIndex("deliveries_by_event").on(t.event, t.webhook),
    index("deliveries_queued").on(t.webhook, t.dueAtMs, t.seq).where(sql`due_at_ms IS NOT NULL`),
    index("deliveries_leased").on(t.webhook, t.leaseEndsAtMs).where(sql`lease_ends_at_ms IS NOT NULL`),
    index("deliveries_by_state").on(t.webhook, t.state, t.createdAt, t.seq),
    index("deliveries_by_end").on(t.endedAt).where(sql`ended_at IS NOT NULL`),
  ],
);

/**
 * Attempts of a webhook by the step of time in which they ended and by the class of their duration, so that no query counts them.
 * A writer has the lock of the webhook's queue.
 */
export const attemptStats = pgTable(
  "attempt_stats",
  {
    webhook: whole("webhook").notNull(),
    startsAt: whole("starts_at").notNull(),
    durationClass: integer("duration_class").notNull(),
    attempts: whole("attempts").notNull(),
    /** Those after which the delivery was over. */
    delivered: whole("delivered").notNull(),
    failed: whole("failed").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.webhook, t.startsAt, t.durationClass] }),
    index("attempt_stats_by_time").on(t.startsAt),
  ],
);

/** Deliveries of all webhooks by state, one row for each node slot. The sum over the slots is the number. */
export const deliveryTotals = pgTable(
  "delivery_totals",
  {
    state: text("state").notNull(),
    slot: integer("slot").notNull(),
    count: whole("count").notNull(),
  },
  (t) => [primaryKey({ columns: [t.state, t.slot] })],
);

/** Calls to a webhook that started within a short interval from `starts_at_ms` on, for its rate limit. */
export const deliveryRates = pgTable(
  "delivery_rates",
  {
    webhook: whole("webhook").notNull(),
    startsAtMs: whole("starts_at_ms").notNull(),
    count: whole("count").notNull(),
  },
  (t) => [primaryKey({ columns: [t.webhook, t.startsAtMs] })],
);

/** Health of a webhook. Each webhook has a row from its creation on; it is the lock of the webhook's queue. */
export const webhookHealth = pgTable("webhook_health", {
  webhook: whole("webhook").primaryKey(),
  /** Rows of `deliveries` in that state. */
  queued: whole("queued").notNull(),
  lastSuccessAt: whole("last_success_at"),
  /** When a single attempt last succeeded or failed. */
  lastFailureAt: whole("last_failure_at"),
  /** Consecutive failed deliveries, and when the first of them failed. */
  consecutiveFailures: whole("consecutive_failures").notNull(),
  failingSince: whole("failing_since"),
  /** Deliveries that expired in the queue, or did not fit into it. */
  dropped: whole("dropped").notNull(),
  /** Set when a node deactivates the webhook. */
  deactivatedAt: whole("deactivated_at"),
  deactivationReason: text("deactivation_reason"),
  /** When the number of due deliveries first exceeded the rate of calls. */
  behindSinceMs: whole("behind_since_ms"),
  /** When the receiver's requested backoff ends. */
  heldUntilMs: whole("held_until_ms"),
});

/**
 * The last change of each webhook. A reader that has seen all changes up to a version continues after it: a writer of this
 * table holds the change lock, so versions become visible in order. The row of a deleted webhook stays for a while, so that
 * readers notice the deletion.
 */
export const webhookChanges = pgTable(
  "webhook_changes",
  {
    version: sequence("version"),
    webhookId: text("webhook_id").notNull().unique(),
    /** When the webhook was deleted. */
    deletedAt: whole("deleted_at"),
  },
  (t) => [index("webhook_changes_deleted").on(t.deletedAt).where(sql`deleted_at IS NOT NULL`)],
);
