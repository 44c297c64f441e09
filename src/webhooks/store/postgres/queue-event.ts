import type { PgTransaction } from "../../../db/postgres/pool.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import type { QueuedEvent } from "../delivery-publications.ts";
import { messageIdOf } from "../message-id.ts";

const storedDeliveries = pgStatement<{ message_id: string }, [messageIds: string[]]>(
  "deliveries.stored",
  "SELECT message_id FROM deliveries WHERE message_id = ANY ($1::text[])",
);
/** Two processes that insert the same events wait for each other in the same order. */
const insertEvents = pgStatement<
  unknown,
  [eventIds: string[], kinds: string[], bodies: string[], isTest: boolean, createdAts: number[]]
>(
  "delivery-events.insert",
  `INSERT INTO delivery_events (event_id, kind, body, is_test, created_at)
   SELECT e.event_id, e.kind, e.body, $4::boolean, e.created_at
   FROM unnest($1::text[], $2::text[], $3::text[], $5::bigint[]) AS e(event_id, kind, body, created_at)
   ORDER BY e.event_id COLLATE "C" ON CONFLICT (event_id) DO NOTHING`,
);
/** The lock keeps the sweep from deleting an event that is about to get a delivery. */
const eventSeqs = pgStatement<{ event_id: string; seq: number }, [eventIds: string[]]>(
  "delivery-events.find",
  `SELECT event_id, seq FROM delivery_events WHERE event_id = ANY ($1::text[]) ORDER BY event_id FOR KEY SHARE`,
);
/** The numbers are taken in the order of the events, whatever the order of the insertion. */
const insertDeliveries = pgStatement<
  { webhook: number; message_id: string },
  [messageIds: string[], events: number[], webhooks: number[], nowSecs: number, dueAtMs: number]
>(
  "deliveries.insert",
  `WITH numbered AS MATERIALIZED (
     SELECT nextval('deliveries_seq_seq') AS seq, d.message_id, d.event, d.webhook
     FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS d(message_id, event, webhook)
   )
   INSERT INTO deliveries (seq, message_id, event, webhook, state, attempts, created_at, due_at_ms)
   SELECT n.seq, n.message_id, n.event, n.webhook, 'queued', 0, $4::bigint, $5::bigint FROM numbered n
   ORDER BY n.message_id COLLATE "C" ON CONFLICT DO NOTHING RETURNING webhook, message_id`,
);
const lockHealth = pgStatement<unknown, [webhooks: number[]]>(
  "webhook-health.lock",
  "SELECT 1 AS locked FROM webhook_health WHERE webhook = ANY ($1::bigint[]) ORDER BY webhook FOR NO KEY UPDATE",
);
const countHealth = pgStatement<unknown, [webhooks: number[], queued: number[], dropped: number[]]>(
  "webhook-health.count",
  `UPDATE webhook_health h SET queued = h.queued + a.queued, dropped = h.dropped + a.dropped
   FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS a(webhook, queued, dropped) WHERE h.webhook = a.webhook`,
);

/** A webhook that events are queued for. */
export interface ReceivingWebhook {
  readonly seq: number;
  readonly webhookId: string;
  /** How many more deliveries its queue takes. */
  readonly room: number;
}

/** What `queueEvents` did. */
export interface QueuedDeliveries {
  readonly queued: number;
  readonly webhookIds: readonly string[];
  readonly dropped: number;
}

interface Pair {
  readonly event: QueuedEvent;
  readonly webhook: ReceivingWebhook;
  readonly messageId: string;
}

/**
 * Queues events for those of their webhooks that are given and do not have them yet, within the caller's transaction.
 * Other processes may do so with the same events. The caller adds the number of queued deliveries to the totals.
 */
export async function queueEvents(
  tx: PgTransaction,
  {
    events,
    webhooks,
    isTest,
    nowMs,
  }: {
    readonly events: readonly QueuedEvent[];
    readonly webhooks: readonly ReceivingWebhook[];
    readonly isTest: boolean;
    readonly nowMs: number;
  },
): Promise<QueuedDeliveries> {
  const { pairs, dropped } = withinRoom(await missingPairs(tx, events, webhooks));
  const inserted = pairs.length === 0 ? [] : await insertPairs(tx, pairs, isTest, nowMs);
  const counts = new Map<number, { queued: number; dropped: number }>();
  const countsOf = (webhook: number) => {
    const known = counts.get(webhook) ?? { queued: 0, dropped: 0 };
    counts.set(webhook, known);
    return known;
  };
  for (const { webhook } of inserted) countsOf(webhook).queued += 1;
  for (const { webhook } of dropped) countsOf(webhook.seq).dropped += 1;
  if (counts.size > 0) {
    const seqs = [...counts.keys()];
    await tx.all(lockHealth, seqs);
    const all = [...counts.values()];
    await tx.run(
      countHealth,
      seqs,
      all.map(({ queued }) => queued),
      all.map((one) => one.dropped),
    );
  }
  const added = new Set(inserted.map(({ webhook }) => webhook));
  return {
    queued: inserted.length,
    webhookIds: webhooks.filter(({ seq }) => added.has(seq)).map(({ webhookId }) => webhookId),
    dropped: dropped.length,
  };
}

/** The deliveries that are not stored yet, in the order of the events. */
async function missingPairs(
  tx: PgTransaction,
  events: readonly QueuedEvent[],
  webhooks: readonly ReceivingWebhook[],
): Promise<Pair[]> {
  const byId = new Map(webhooks.map((webhook) => [webhook.webhookId, webhook]));
  const pairs = events.flatMap((event) =>
    event.webhookIds.flatMap((webhookId) => {
      const webhook = byId.get(webhookId);
      return webhook ? [{ event, webhook, messageId: messageIdOf(event.eventId, webhookId) }] : [];
    }),
  );
  if (pairs.length === 0) return [];
  const stored = await storedMessageIds(
    tx,
    pairs.map(({ messageId }) => messageId),
  );
  return pairs.filter(({ messageId }) => !stored.has(messageId));
}

/** Which of these deliveries exist already. */
export async function storedMessageIds(
  tx: PgTransaction,
  messageIds: readonly string[],
): Promise<ReadonlySet<string>> {
  return new Set((await tx.all(storedDeliveries, [...messageIds])).map(({ message_id }) => message_id));
}

/** Separates deliveries that do not fit into the queue of their webhook. */
function withinRoom(pairs: readonly Pair[]): { readonly pairs: Pair[]; readonly dropped: Pair[] } {
  const used = new Map<ReceivingWebhook, number>();
  const fitting: Pair[] = [];
  const dropped: Pair[] = [];
  for (const pair of pairs) {
    const before = used.get(pair.webhook) ?? 0;
    if (before >= pair.webhook.room) dropped.push(pair);
    else {
      used.set(pair.webhook, before + 1);
      fitting.push(pair);
    }
  }
  return { pairs: fitting, dropped };
}

async function insertPairs(tx: PgTransaction, pairs: readonly Pair[], isTest: boolean, nowMs: number) {
  const events = [...new Set(pairs.map(({ event }) => event))];
  const eventIds = events.map(({ eventId }) => eventId);
  await tx.run(
    insertEvents,
    eventIds,
    events.map(({ kind }) => kind),
    events.map(({ body }) => body),
    isTest,
    events.map(({ createdAt }) => createdAt),
  );
  const seqs = new Map((await tx.all(eventSeqs, eventIds)).map(({ event_id, seq }) => [event_id, seq]));
  // The sweep has deleted one of them since the insertion found it; the next publication inserts it.
  const known = pairs.flatMap(({ event, webhook, messageId }) => {
    const seq = seqs.get(event.eventId);
    return seq === undefined ? [] : [{ seq, webhook: webhook.seq, messageId }];
  });
  if (known.length < pairs.length) throw new Error("an event was swept while it was published again");
  return tx.all(
    insertDeliveries,
    known.map(({ messageId }) => messageId),
    known.map(({ seq }) => seq),
    known.map(({ webhook }) => webhook),
    Math.floor(nowMs / 1000),
    nowMs,
  );
}
