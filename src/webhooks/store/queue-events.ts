import { createHash } from "node:crypto";
import { sql, sqlEach } from "../../db/state/sql.ts";
import type { Queries, StateDb, Tx } from "../../db/state/state-db.ts";
import type {
  DeliveryPublications,
  MatchedEvents,
  Publication,
  QueuedEvent,
  QueueLimits,
} from "./delivery-publications.ts";
import { addToDeliveryTotals } from "./delivery-totals.ts";
import { hasWebhookChanged, readWebhookChanges } from "./webhook-changes.ts";

const storedDeliveries = sql<{ message_id: string }, [messageIds: readonly string[]]>(
  "deliveries.stored",
  "SELECT message_id FROM deliveries WHERE message_id = ANY ($1::text[])",
);
/** Two processes that insert the same events wait for each other in the same order, which avoids deadlocks. */
const insertEvents = sqlEach<
  unknown,
  [eventId: string, kind: string, body: string, createdAt: number],
  [isTest: boolean]
>(
  "delivery-events.insert",
  `INSERT INTO delivery_events (event_id, kind, body, is_test, created_at)
   SELECT t.value ->> 0, t.value ->> 1, t.value ->> 2, $2::boolean, (t.value ->> 3)::bigint FROM rows($1) t
   WHERE true ORDER BY (t.value ->> 0) COLLATE "C" ON CONFLICT (event_id) DO NOTHING`,
);
/** The lock keeps the sweep from deleting an event that is about to get a delivery. */
const eventSeqs = sql<{ event_id: string; seq: number }, [eventIds: readonly string[]]>(
  "delivery-events.find",
  "SELECT event_id, seq FROM delivery_events WHERE event_id = ANY ($1::text[]) ORDER BY event_id FOR KEY SHARE",
);
/** In PostgreSQL the numbers are taken in the order of the events, whatever the order of the insertion. */
const insertDeliveries = sqlEach<
  { webhook: number },
  [messageId: string, event: number, webhook: number],
  [nowSecs: number, dueAtMs: number]
>(
  "deliveries.insert",
  `WITH numbered AS MATERIALIZED (
     SELECT nextval('deliveries_seq_seq') AS seq, t.value ->> 0 AS message_id, (t.value ->> 1)::bigint AS event,
       (t.value ->> 2)::bigint AS webhook
     FROM rows($1) t
   )
   INSERT INTO deliveries (seq, message_id, event, webhook, state, attempts, created_at, due_at_ms)
   SELECT n.seq, n.message_id, n.event, n.webhook, 'queued', 0, $2::bigint, $3::bigint FROM numbered n
   ORDER BY n.message_id COLLATE "C" ON CONFLICT DO NOTHING RETURNING webhook`,
  {
    row: `INSERT INTO deliveries (message_id, event, webhook, state, attempts, created_at, due_at_ms)
      VALUES (?3, ?4, ?5, 'queued', 0, ?1, ?2) ON CONFLICT DO NOTHING RETURNING webhook`,
    rows: `INSERT INTO deliveries (message_id, event, webhook, state, attempts, created_at, due_at_ms)
      SELECT t.value ->> 0, t.value ->> 1, t.value ->> 2, 'queued', 0, $2, $3 FROM rows($1) t
      WHERE true ON CONFLICT DO NOTHING RETURNING webhook`,
  },
);
const lockHealth = sql<unknown, [webhooks: readonly number[]]>(
  "webhook-health.lock",
  "SELECT 1 AS locked FROM webhook_health WHERE webhook = ANY ($1::bigint[]) ORDER BY webhook FOR NO KEY UPDATE",
);
const countHealth = sqlEach<unknown, [webhook: number, queued: number, dropped: number]>(
  "webhook-health.count",
  `UPDATE webhook_health SET queued = queued + (t.value ->> 1)::bigint, dropped = dropped + (t.value ->> 2)::bigint
   FROM rows($1) t WHERE webhook = (t.value ->> 0)::bigint`,
);

const receivers = sql<{ seq: number; webhook_id: string; queued: number }, [webhookIds: readonly string[]]>(
  "webhooks.receiving",
  `SELECT w.seq, w.webhook_id, h.queued FROM webhooks w JOIN webhook_health h ON h.webhook = w.seq
   WHERE w.webhook_id = ANY ($1::text[]) AND w.active`,
);
/** Uses PostgreSQL's clock, which decides whether a process is alive. SQLite has only one process. */
const otherProcesses = sql<
  { others: number; own_live_since: number | null; others_live_since: number | null },
  [bootId: string]
>(
  "nodes.others",
  `SELECT count(*) AS others, (SELECT live_since FROM nodes WHERE boot = $1) AS own_live_since,
     min(live_since) AS others_live_since
   FROM nodes WHERE boot <> $1 AND ends_at_ms > extract(epoch FROM clock_timestamp()) * 1000`,
  "SELECT 0 AS others, NULL AS own_live_since, NULL AS others_live_since WHERE ?1 IS NULL",
);

/** A webhook for which events are queued. */
export interface ReceivingWebhook {
  readonly seq: number;
  readonly webhookId: string;
  /** How many more deliveries fit into its queue. */
  readonly room: number;
}

interface Pair {
  readonly event: QueuedEvent;
  readonly webhook: ReceivingWebhook;
  readonly messageId: string;
}

const ID_BYTES = 16;

/** Derives the id of an event's delivery to a webhook. Deterministic. */
export function messageIdOf(eventId: string, webhookId: string): string {
  const digest = createHash("sha256").update(`${eventId} ${webhookId}`).digest();
  return `msg_${digest.toString("hex", 0, ID_BYTES)}`;
}

/**
 * Creates the publications of one process. Every process publishes its own events, and the unique ids of events and deliveries
 * decide which of them are new. A queue may exceed its limit by what several processes add to it at once.
 */
export function createPublications(
  db: StateDb,
  {
    bootId,
    limits,
    deactivate,
  }: {
    readonly bootId: string;
    readonly limits: QueueLimits;
    readonly deactivate: DeliveryPublications["deactivate"];
  },
): DeliveryPublications {
  return {
    changesSince: (version) => readWebhookChanges(db, version),

    async otherProcesses() {
      const found = await db.get(otherProcesses, bootId);
      if (!found || found.others === 0) return undefined;
      return { ownLiveSince: found.own_live_since, othersLiveSince: found.others_live_since };
    },

    publish: db.decision<[matched: MatchedEvents], Publication | "changed">(
      "publications.publish",
      async (tx, { version, nowSecs, events }) => {
        // Prevents changes of webhooks before the commit.
        await tx.lockShared("change");
        if (await hasWebhookChanged(tx, version)) return "changed";
        const webhookIds = [...new Set(events.flatMap((event) => event.webhookIds))];
        const webhooks = (await tx.all(receivers, webhookIds)).map(({ seq, webhook_id, queued }) => ({
          seq,
          webhookId: webhook_id,
          room: limits.maxQueued - queued,
        }));
        const publication = await queueEvents(tx, { events, webhooks, isTest: false, nowMs: nowSecs * 1000 });
        await addToDeliveryTotals(tx, "synced", { queued: publication.queued });
        return publication;
      },
    ),

    deactivate,
  };
}

/**
 * Queues events for the given webhooks that do not have them yet, within the caller's transaction. Other processes may queue the same
 * events concurrently. The caller adds the number of queued deliveries to the totals.
 */
export async function queueEvents(
  tx: Tx,
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
): Promise<Publication> {
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
    await tx.lockRows(lockHealth, [...counts.keys()]);
    await tx.each(
      countHealth,
      [...counts].map(([webhook, count]) => [webhook, count.queued, count.dropped]),
    );
  }
  const added = new Set(inserted.map(({ webhook }) => webhook));
  return {
    queued: inserted.length,
    webhookIds: webhooks.filter(({ seq }) => added.has(seq)).map(({ webhookId }) => webhookId),
    dropped: dropped.length,
  };
}

/** Returns the deliveries that are not stored yet, in the order of the events. */
async function missingPairs(
  tx: Tx,
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
  const messageIds = pairs.map(({ messageId }) => messageId);
  const stored = await storedMessageIds(tx, messageIds);
  return pairs.filter(({ messageId }) => !stored.has(messageId));
}

/** Returns which of these deliveries already exist. */
export async function storedMessageIds(
  queries: Queries,
  messageIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (messageIds.length === 0) return new Set();
  return new Set((await queries.all(storedDeliveries, messageIds)).map(({ message_id }) => message_id));
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

async function insertPairs(tx: Tx, pairs: readonly Pair[], isTest: boolean, nowMs: number) {
  const events = [...new Set(pairs.map(({ event }) => event))];
  await tx.each(
    insertEvents,
    events.map(({ eventId, kind, body, createdAt }) => [eventId, kind, body, createdAt] as const),
    isTest,
  );
  const eventIds = events.map(({ eventId }) => eventId);
  const seqs = new Map((await tx.all(eventSeqs, eventIds)).map(({ event_id, seq }) => [event_id, seq]));
  const known = pairs.flatMap(({ event, webhook, messageId }) => {
    const seq = seqs.get(event.eventId);
    return seq === undefined ? [] : [[messageId, seq, webhook.seq] as const];
  });
  // The sweep has deleted an event since the insertion found it; the next publication inserts it.
  if (known.length < pairs.length) throw new Error("an event was swept while it was published again");
  return tx.each(insertDeliveries, known, Math.floor(nowMs / 1000), nowMs);
}
