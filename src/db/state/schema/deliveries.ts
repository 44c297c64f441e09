import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

/**
 * What webhooks are sent. `webhook` is the `seq` of a webhook and `event` that of an event. What a deleted webhook leaves
 * behind is never read, and maintenance deletes it. Times are unix seconds unless their name ends in `_ms`.
 */

/** An event that is, or was, on its way to somebody: the body is kept once for all its receivers. */
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
    /** What the receiver knows it by, over all attempts. */
    messageId: text("message_id").notNull().unique(),
    event: integer().notNull(),
    webhook: integer().notNull(),
    state: text().notNull(),
    /** Attempts since it was queued, or queued again. */
    attempts: integer().notNull(),
    createdAt: integer("created_at").notNull(),
    /** When the next attempt may begin, or the lease of the one under way ends; null once there will be none. */
    dueAtMs: integer("due_at_ms"),
    /** End of the lease of the attempt under way. */
    leaseEndsAtMs: integer("lease_ends_at_ms"),
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

/** What came of each attempt. `status` is that of the answer, `error` the class of the failure where there was none. */
export const deliveryAttempts = sqliteTable(
  "delivery_attempts",
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    delivery: integer().notNull(),
    atMs: integer("at_ms").notNull(),
    status: integer(),
    error: text(),
    durationMs: integer("duration_ms").notNull(),
    /** Start of the answer's body. */
    answer: text().notNull(),
  },
  (t) => [index("delivery_attempts_by_delivery").on(t.delivery)],
);

/** Deliveries of all webhooks by state, so that nobody has to count them. */
export const deliveryTotals = sqliteTable("delivery_totals", {
  state: text().primaryKey(),
  count: integer().notNull(),
});

/** Calls to a webhook that began within a short span from `starts_at_ms` on, for its limit. */
export const deliveryRates = sqliteTable(
  "delivery_rates",
  {
    webhook: integer().notNull(),
    startsAtMs: integer("starts_at_ms").notNull(),
    count: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.webhook, t.startsAtMs] })],
);

/** How a webhook fares; each has a row from its creation on. */
export const webhookHealth = sqliteTable("webhook_health", {
  webhook: integer().primaryKey(),
  /** Rows of `deliveries` in that state. */
  queued: integer().notNull(),
  lastSuccessAt: integer("last_success_at"),
  /** Of a single attempt. */
  lastFailureAt: integer("last_failure_at"),
  /** Deliveries in a row that ended in failure, and when the first of them did. */
  consecutiveFailures: integer("consecutive_failures").notNull(),
  failingSince: integer("failing_since"),
  /** Deliveries that waited too long for their turn, or had to wait behind too many others. */
  dropped: integer().notNull(),
  /** Set where the node deactivated the webhook by itself. */
  deactivatedAt: integer("deactivated_at"),
  deactivationReason: text("deactivation_reason"),
  /** Since when more has been due than goes out. */
  behindSinceMs: integer("behind_since_ms"),
  /** Until when the receiver wants to be left alone. */
  heldUntilMs: integer("held_until_ms"),
});

/**
 * The last change of each webhook: whoever has seen all up to a version reads on from there. The row of a deleted webhook
 * stays for a while, to tell of that.
 */
export const webhookChanges = sqliteTable(
  "webhook_changes",
  {
    version: integer().primaryKey({ autoIncrement: true }),
    webhookId: text("webhook_id").notNull().unique(),
    /** When it was deleted. */
    deletedAt: integer("deleted_at"),
  },
  (t) => [index("webhook_changes_deleted").on(t.deletedAt).where(sql`deleted_at IS NOT NULL`)],
);
