import { sql } from "../../../db/state/sql.ts";
import type { Queries, StateDb } from "../../../db/state/state-db.ts";
import type { StoreRefusal } from "../../../management/owned-store.ts";
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
import {
  type AttemptRow,
  isSearch,
  type LoggedRow,
  readPage,
  type SearchedRow,
  searchedFor,
  toAttempt,
  toLogged,
} from "./delivery-page.ts";
import { type EndedDelivery, endedBetween, lockOwn, requeue } from "./requeue.ts";

/** Maximum number of attempts returned per delivery. Only repeated manual replays lead to more. */
const MAX_SHOWN_ATTEMPTS = 20;
/** States of deliveries that a replay of a range queues again. */
const REPLAYED_STATES = ["failed", "dropped"] as const satisfies readonly DeliveryState[];

const COLUMNS = `d.seq, d.message_id, e.event_id, e.kind, e.is_test, d.state, d.created_at, d.due_at_ms, d.lease_ends_at_ms,
     d.ended_at, d.replay_id`;
type ListParams = [webhookId: string, states: string, createdBefore: number, seqBefore: number, max: number];
const listText = (columns: string) =>
  `SELECT ${columns} FROM elements($2) t JOIN webhooks w ON w.webhook_id = $1
     JOIN deliveries d ON d.seq = ANY (ARRAY(
       SELECT l.seq FROM deliveries l WHERE l.webhook = w.seq AND l.state = t.value AND (l.created_at, l.seq) < ($3, $4)
       ORDER BY l.created_at DESC, l.seq DESC LIMIT $5)::bigint[])
     JOIN delivery_events e ON e.seq = d.event
   ORDER BY d.created_at DESC, d.seq DESC LIMIT $5`;
const newest = sql<LoggedRow, ListParams>("deliveries.list", listText(COLUMNS));
/** Like `newest`, plus what a search examines. */
const searched = sql<SearchedRow, [...ListParams, id: string, pattern: string, otherPattern: string]>(
  "deliveries.search",
  listText(`${COLUMNS}, (d.message_id = $6::text OR e.event_id = $6::text OR lower(e.body) LIKE $7::text ESCAPE '\\'
       OR lower(e.body) LIKE $8::text ESCAPE '\\') AS has_text,
     (SELECT a.status FROM delivery_attempts a WHERE a.delivery = d.seq ORDER BY a.seq DESC LIMIT 1) AS last_status`),
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

const deliveryToReplay = sql<EndedDelivery, [messageId: string, webhook: number]>(
  "deliveries.to-replay",
  "SELECT seq, state FROM deliveries WHERE message_id = $1 AND webhook = $2",
);
type OwnRefusal = "inactive" | StoreRefusal;
/** Creates the owner's side of the deliveries. */
export function createDeliveryLog(db: StateDb, limits: QueueLimits): DeliveryLog {
  return {
    async list(page) {
      const states = JSON.stringify(page.state === undefined ? deliveryStates : [page.state]);
      const { id, patterns } = searchedFor(page.text ?? "");
      const { rows, next } = await readPage(page, ({ createdAt, seq }, max) =>
        isSearch(page)
          ? db.all(searched, page.webhookId, states, createdAt, seq, max, id, ...patterns)
          : db.all(newest, page.webhookId, states, createdAt, seq, max),
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
      await requeue(tx, webhook.seq, [delivery], { nowMs, replayId: null });
      return "queued";
    }),

    replayRange: db.decision<Parameters<DeliveryLog["replayRange"]>, Replayed | OwnRefusal>(
      "deliveryLog.replayRange",
      async (tx, claim, { fromSecs, toSecs }, { after, max, nowMs }) => {
        const webhook = await lockOwn(tx, claim);
        if (typeof webhook === "string") return webhook;
        const { createdAt, seq } = after ?? { createdAt: fromSecs, seq: 0 };
        const states = JSON.stringify(REPLAYED_STATES);
        const found = await tx.all(endedBetween, webhook.seq, states, createdAt, seq, toSecs, max);
        await requeue(tx, webhook.seq, found, { nowMs, replayId: null });
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

async function withAttempts(queries: Queries, rows: readonly LoggedRow[]): Promise<LoggedDelivery[]> {
  if (rows.length === 0) return [];
  const attempts = new Map<number, Attempt[]>(rows.map(({ seq }) => [seq, []]));
  for (const row of await queries.all(lastAttempts, [...attempts.keys()], MAX_SHOWN_ATTEMPTS))
    attempts.get(row.delivery)?.push(toAttempt(row));
  return rows.map((row) => toLogged(row, attempts.get(row.seq) ?? []));
}
