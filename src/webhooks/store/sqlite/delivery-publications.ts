import type { StateDatabase } from "../../../db/state/database.ts";
import { statement } from "../../../db/state/statement.ts";
import type { StoreWrites } from "../../../db/state/store-writes.ts";
import type { DeliveryPublications, QueuedEvent, QueueLimits } from "../delivery-publications.ts";
import { messageIdOf } from "../message-id.ts";
import { webhookChangesOf } from "../webhook-changes.ts";
import { addToDeliveryTotals } from "./delivery-totals.ts";
import { deactivateUnchanged } from "./webhook-health.ts";

const insertEvent = statement<
  { seq: number },
  [eventId: string, kind: string, body: string, isTest: number, createdAt: number]
>(
  "delivery-events.insert",
  `INSERT INTO delivery_events (event_id, kind, body, is_test, created_at) VALUES (?, ?, ?, ?, ?)
   ON CONFLICT (event_id) DO NOTHING RETURNING seq`,
);
const eventById = statement<{ seq: number }, [eventId: string]>(
  "delivery-events.find",
  "SELECT seq FROM delivery_events WHERE event_id = ?",
);
const deleteEvent = statement<unknown, [seq: number]>(
  "delivery-events.delete",
  "DELETE FROM delivery_events WHERE seq = ?",
);
/** Takes the deliveries as JSON: `[[webhookId, messageId], …]`. */
const insertDeliveries = statement<
  { webhook: number; message_id: string },
  [deliveries: string, event: number, nowSecs: number, dueAtMs: number, maxQueued: number]
>(
  "deliveries.insert",
  `INSERT INTO deliveries (message_id, event, webhook, state, attempts, created_at, due_at_ms)
   SELECT value ->> 1, ?2, w.seq, 'queued', 0, ?3, ?4 FROM json_each(?1)
     CROSS JOIN webhooks w ON w.webhook_id = value ->> 0 AND w.active = 1
     CROSS JOIN webhook_health h ON h.webhook = w.seq AND h.queued < ?5
   WHERE true ON CONFLICT DO NOTHING RETURNING webhook, message_id`,
);
const countQueued = statement<unknown, [webhooks: string]>(
  "webhook-health.count-queued",
  "UPDATE webhook_health SET queued = queued + 1 WHERE webhook IN (SELECT value FROM json_each(?))",
);
/** Counts webhooks whose queue is full and that do not have the event yet. */
const countDropped = statement<unknown, [deliveries: string, event: number, maxQueued: number]>(
  "webhook-health.count-dropped",
  `UPDATE webhook_health SET dropped = dropped + 1 WHERE queued >= ?3 AND webhook IN
     (SELECT w.seq FROM json_each(?1) CROSS JOIN webhooks w ON w.webhook_id = value ->> 0 AND w.active = 1
      WHERE NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event = ?2 AND d.webhook = w.seq))`,
);

export function publicationReads(
  db: StateDatabase,
): Pick<DeliveryPublications, "changesSince" | "otherProcesses"> {
  return {
    changesSince: async (version) => webhookChangesOf(db, version),
    otherProcesses: async () => undefined,
  };
}

export function publicationWrites(
  db: StateDatabase,
  limits: QueueLimits,
): StoreWrites<DeliveryPublications, "publish" | "deactivate"> {
  return {
    publish({ version, nowSecs, events }) {
      if (webhookChangesOf(db, version).version !== version) return "changed";
      const webhookIds = new Set<string>();
      let queued = 0;
      let dropped = 0;
      for (const event of events) {
        const outcome = queueEvent(db, { ...event, isTest: false }, nowSecs * 1000, limits);
        for (const { webhookId } of outcome.queued) webhookIds.add(webhookId);
        queued += outcome.queued.length;
        dropped += outcome.dropped;
      }
      return { queued, webhookIds: [...webhookIds], dropped };
    },

    deactivate: (deactivation) => deactivateUnchanged(db, deactivation),
  };
}

export interface EventOutcome {
  /** New deliveries. */
  readonly queued: readonly { readonly webhookId: string; readonly messageId: string }[];
  readonly dropped: number;
}

/**
 * Queues an event for those of its webhooks that are active and do not have it yet, within the caller's transaction.
 * Without such a webhook it stores nothing.
 */
export function queueEvent(
  db: StateDatabase,
  event: QueuedEvent & { readonly isTest: boolean },
  nowMs: number,
  { maxQueued }: QueueLimits,
): EventOutcome {
  const { eventId, kind, body, isTest, createdAt, webhookIds } = event;
  if (webhookIds.length === 0) return { queued: [], dropped: 0 };
  const inserted = db.get(insertEvent, eventId, kind, body, isTest ? 1 : 0, createdAt);
  const seq = inserted?.seq ?? db.get(eventById, eventId)?.seq ?? 0;
  const deliveries = webhookIds.map((webhookId) => ({
    webhookId,
    messageId: messageIdOf(eventId, webhookId),
  }));
  const list = JSON.stringify(deliveries.map(({ webhookId, messageId }) => [webhookId, messageId]));
  const nowSecs = Math.floor(nowMs / 1000);
  const rows = db.all(insertDeliveries, list, seq, nowSecs, nowMs, maxQueued);
  const added = new Set(rows.map(({ message_id }) => message_id));
  if (rows.length > 0) db.run(countQueued, JSON.stringify(rows.map(({ webhook }) => webhook)));
  const dropped = rows.length < deliveries.length ? db.run(countDropped, list, seq, maxQueued) : 0;
  // The sweep would never delete an event without deliveries.
  if (inserted && rows.length === 0) db.run(deleteEvent, seq);
  addToDeliveryTotals(db, "queued", rows.length);
  return { queued: deliveries.filter(({ messageId }) => added.has(messageId)), dropped };
}
