import { sql, sqlEach } from "../../../db/state/sql.ts";
import type { Queries, StateDb, Tx } from "../../../db/state/state-db.ts";
import type { Claim, StoreRefusal } from "../../../management/owned-store.ts";
import { readAttemptStats } from "../attempt-stats.ts";
import {
  type DeliveryLog,
  type DeliveryState,
  deliveryStates,
  type LoggedDelivery,
  type Replayed,
} from "../delivery-log.ts";
import type { QueueLimits } from "../delivery-publications.ts";
import type { Attempt } from "../delivery-queue.ts";
import { addToDeliveryTotals, readDeliveryTotals } from "../delivery-totals.ts";
import { messageIdOf, queueEvents, storedMessageIds } from "../queue-events.ts";
import { type AttemptRow, type LoggedRow, readPage, toAttempt, toLogged } from "./delivery-page.ts";

/** Attempts of one delivery that are returned. Only repeated manual replays lead to more. */
const MAX_SHOWN_ATTEMPTS = 20;
/** States of deliveries that a replay of a range queues again. */
const REPLAYED_STATES = ["failed", "dropped"] as const satisfies readonly DeliveryState[];

/** The lock keeps the webhook as it is until the end of the transaction. */
const webhookOwner = sql<{ seq: number; owner_fid: number; active: boolean | number }, [webhookId: string]>(
  "webhooks.to-replay",
  "SELECT seq, owner_fid, active FROM webhooks WHERE webhook_id = $1 FOR SHARE",
);
const lockQueue = sql<{ queued: number }, [webhook: number]>(
  "webhook-health.queued",
  "SELECT queued FROM webhook_health WHERE webhook = $1 FOR NO KEY UPDATE",
);
const addQueued = sql<unknown, [added: number, webhook: number]>(
  "webhook-health.add-queued",
  "UPDATE webhook_health SET queued = queued + $1 WHERE webhook = $2",
);
const COLUMNS = `d.seq, d.message_id, e.event_id, e.kind, e.is_test, d.state, d.created_at, d.due_at_ms, d.lease_ends_at_ms,
     d.ended_at`;
const newest = sql<
  LoggedRow,
  [webhookId: string, states: string, createdBefore: number, seqBefore: number, max: number]
>(
  "deliveries.list",
  `SELECT ${COLUMNS} FROM elements($2) t JOIN webhooks w ON w.webhook_id = $1
     JOIN deliveries d ON d.seq = ANY (ARRAY(
       SELECT l.seq FROM deliveries l WHERE l.webhook = w.seq AND l.state = t.value AND (l.created_at, l.seq) < ($3, $4)
       ORDER BY l.created_at DESC, l.seq DESC LIMIT $5)::bigint[])
     JOIN delivery_events e ON e.seq = d.event
   ORDER BY d.created_at DESC, d.seq DESC LIMIT $5`,
);
const withBody = sql<LoggedRow & { body: string }, [messageId: string, webhookId: string]>(
  "deliveries.with-body",
  `SELECT ${COLUMNS}, e.body
   FROM deliveries d JOIN delivery_events e ON e.seq = d.event JOIN webhooks w ON w.seq = d.webhook
   WHERE d.message_id = $1 AND w.webhook_id = $2`,
);
const lastAttempts = sql<AttemptRow & { delivery: number }, [deliveries: readonly number[], max: number]>(
  "delivery-attempts.last",
  `SELECT d.delivery, a.at_ms, a.status, a.error, a.duration_ms, a.answer FROM unnest($1::bigint[]) AS d(delivery)
     CROSS JOIN LATERAL (
       SELECT l.seq, l.at_ms, l.status, l.error, l.duration_ms, l.answer FROM delivery_attempts l
       WHERE l.delivery = d.delivery ORDER BY l.seq DESC LIMIT $2
     ) a
   ORDER BY a.seq`,
  `SELECT a.delivery, a.at_ms, a.status, a.error, a.duration_ms, a.answer FROM json_each(?1) t
     JOIN delivery_attempts a ON a.seq IN
       (SELECT l.seq FROM delivery_attempts l WHERE l.delivery = t.value ORDER BY l.seq DESC LIMIT ?2)
   ORDER BY a.seq`,
);

interface EndedDelivery {
  readonly seq: number;
  readonly state: DeliveryState;
}

const deliveryToReplay = sql<EndedDelivery, [messageId: string, webhook: number]>(
  "deliveries.to-replay",
  "SELECT seq, state FROM deliveries WHERE message_id = $1 AND webhook = $2",
);
const oldest = sql<
  EndedDelivery & { readonly created_at: number },
  [webhook: number, states: string, createdAfter: number, seqAfter: number, toSecs: number, max: number]
>(
  "deliveries.failed-between",
  `SELECT d.seq, d.created_at, d.state FROM elements($2) t
     JOIN deliveries d ON d.seq = ANY (ARRAY(
       SELECT l.seq FROM deliveries l
       WHERE l.webhook = $1 AND l.state = t.value AND (l.created_at, l.seq) > ($3, $4) AND l.created_at <= $5
       ORDER BY l.created_at, l.seq LIMIT $6)::bigint[])
   ORDER BY d.created_at, d.seq LIMIT $6`,
);
/** Omits deliveries that the sweep has deleted meanwhile. */
const queueAgain = sqlEach<{ seq: number }, [seq: number, state: DeliveryState], [nowMs: number]>(
  "deliveries.queue-again",
  `UPDATE deliveries SET state = 'queued', attempts = 0, due_at_ms = $2, lease_ends_at_ms = NULL, claimed_by = NULL,
     ended_at = NULL
   FROM rows($1) t WHERE seq = (t.value ->> 0)::bigint AND state = t.value ->> 1 RETURNING seq`,
);

type OwnRefusal = "inactive" | StoreRefusal;
/** Creates the owner's side of the deliveries. */
export function createDeliveryLog(db: StateDb, limits: QueueLimits): DeliveryLog {
  return {
    async list(page) {
      const states = JSON.stringify(page.state === undefined ? deliveryStates : [page.state]);
      const { rows, next } = await readPage(page, ({ createdAt, seq }, max) =>
        db.all(newest, page.webhookId, states, createdAt, seq, max),
      );
      return { deliveries: await withAttempts(db, rows), next };
    },

    async find(webhookId, messageId) {
      const row = await db.get(withBody, messageId, webhookId);
      const [delivery] = row ? await withAttempts(db, [row]) : [];
      return row && delivery && { delivery, body: row.body };
    },

    stats: (request) => readAttemptStats(db, request),

    totals: () => readDeliveryTotals(db),

    replay: db.decision<
      Parameters<DeliveryLog["replay"]>,
      "queued" | "unknown" | "still-queued" | OwnRefusal
    >("deliveryLog.replay", async (tx, claim, messageId, nowMs) => {
      const webhook = await lockOwn(tx, claim);
      if (typeof webhook === "string") return webhook;
      const delivery = await tx.get(deliveryToReplay, messageId, webhook.seq);
      if (!delivery) return "unknown";
      if (delivery.state === "queued") return "still-queued";
      await requeue(tx, webhook.seq, [delivery], nowMs);
      return "queued";
    }),

    replayRange: db.decision<Parameters<DeliveryLog["replayRange"]>, Replayed | OwnRefusal>(
      "deliveryLog.replayRange",
      async (tx, claim, { fromSecs, toSecs }, { after, max, nowMs }) => {
        const webhook = await lockOwn(tx, claim);
        if (typeof webhook === "string") return webhook;
        const { createdAt, seq } = after ?? { createdAt: fromSecs, seq: 0 };
        const states = JSON.stringify(REPLAYED_STATES);
        const found = await tx.all(oldest, webhook.seq, states, createdAt, seq, toSecs, max);
        await requeue(tx, webhook.seq, found, nowMs);
        const last = found.length === max ? found.at(-1) : undefined;
        return { queued: found.length, last: last && { createdAt: last.created_at, seq: last.seq } };
      },
    ),

    queueTests: db.decision<Parameters<DeliveryLog["queueTests"]>, "queued" | "full" | OwnRefusal>(
      "deliveryLog.queueTests",
      async (tx, claim, events, nowMs) => {
        const webhook = await lockOwn(tx, claim);
        if (typeof webhook === "string") return webhook;
        const messageIds = events.map(({ eventId }) => messageIdOf(eventId, claim.id));
        const stored = (await storedMessageIds(tx, messageIds)).size;
        const room = limits.maxQueued - webhook.queued;
        if (events.length - stored > room) return "full";
        const { queued } = await queueEvents(tx, {
          events: events.map((event) => ({ ...event, webhookIds: [claim.id] })),
          webhooks: [{ seq: webhook.seq, webhookId: claim.id, room }],
          isTest: true,
          nowMs,
        });
        await addToDeliveryTotals(tx, "synced", { queued });
        return "queued";
      },
    ),
  };
}

/** Returns an active webhook that belongs to the caller. Its queue stays locked until the commit. */
async function lockOwn(
  tx: Tx,
  { id, ownerFid }: Claim,
): Promise<{ readonly seq: number; readonly queued: number } | OwnRefusal> {
  const webhook = await tx.get(webhookOwner, id);
  if (!webhook) return "not-found";
  if (webhook.owner_fid !== ownerFid) return "not-owner";
  if (!webhook.active) return "inactive";
  const { queued = 0 } = (await tx.get(lockQueue, webhook.seq)) ?? {};
  return { seq: webhook.seq, queued };
}

async function requeue(
  tx: Tx,
  webhook: number,
  ended: readonly EndedDelivery[],
  nowMs: number,
): Promise<void> {
  if (ended.length === 0) return;
  const rows = await tx.each(
    queueAgain,
    ended.map(({ seq, state }) => [seq, state] as const),
    nowMs,
  );
  const requeued = new Set(rows.map(({ seq }) => seq));
  await tx.run(addQueued, requeued.size, webhook);
  const counts: Partial<Record<DeliveryState, number>> = { queued: requeued.size };
  for (const { seq, state } of ended) if (requeued.has(seq)) counts[state] = (counts[state] ?? 0) - 1;
  await addToDeliveryTotals(tx, "synced", counts);
}

async function withAttempts(queries: Queries, rows: readonly LoggedRow[]): Promise<LoggedDelivery[]> {
  if (rows.length === 0) return [];
  const attempts = new Map<number, Attempt[]>(rows.map(({ seq }) => [seq, []]));
  for (const row of await queries.all(lastAttempts, [...attempts.keys()], MAX_SHOWN_ATTEMPTS))
    attempts.get(row.delivery)?.push(toAttempt(row));
  return rows.map((row) => toLogged(row, attempts.get(row.seq) ?? []));
}
