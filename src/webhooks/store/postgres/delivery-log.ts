import type { PgTransaction } from "../../../db/postgres/pool.ts";
import type { PgPools } from "../../../db/postgres/pools.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import type { StateNode } from "../../../db/state/state-node.ts";
import type { Claim, StoreRefusal } from "../../../management/owned-store.ts";
import {
  type DeliveryLog,
  type DeliveryState,
  deliveryStates,
  type LoggedDelivery,
} from "../delivery-log.ts";
import { readPage } from "../delivery-page.ts";
import type { QueueLimits } from "../delivery-publications.ts";
import type { Attempt } from "../delivery-queue.ts";
import {
  type AttemptRow,
  type LoggedRow,
  MAX_SHOWN_ATTEMPTS,
  REPLAYED_STATES,
  toAttempt,
  toLogged,
} from "../logged-rows.ts";
import { messageIdOf } from "../message-id.ts";
import { readAttemptStats } from "./attempt-stats.ts";
import { addToDeliveryTotals, readDeliveryTotals, totalsSlot } from "./delivery-totals.ts";
import { queueEvents, storedMessageIds } from "./queue-event.ts";

/** The lock keeps the webhook as it is until the end of the transaction. */
const webhookOwner = pgStatement<{ seq: number; owner_fid: number; active: boolean }, [webhookId: string]>(
  "webhooks.to-replay",
  "SELECT seq, owner_fid, active FROM webhooks WHERE webhook_id = $1 FOR SHARE",
);
const lockQueue = pgStatement<{ queued: number }, [webhook: number]>(
  "webhook-health.queued",
  "SELECT queued FROM webhook_health WHERE webhook = $1 FOR NO KEY UPDATE",
);
const addQueued = pgStatement<unknown, [added: number, webhook: number]>(
  "webhook-health.add-queued",
  "UPDATE webhook_health SET queued = queued + $1 WHERE webhook = $2",
);
const newest = pgStatement<
  LoggedRow,
  [webhookId: string, states: DeliveryState[], createdBefore: number, seqBefore: number, max: number]
>(
  "deliveries.list",
  `SELECT d.seq, d.message_id, e.event_id, e.kind, e.is_test, d.state, d.created_at, d.due_at_ms, d.lease_ends_at_ms,
     d.ended_at
   FROM webhooks w CROSS JOIN unnest($2::text[]) AS s(state)
     CROSS JOIN LATERAL (
       SELECT l.seq, l.message_id, l.event, l.state, l.created_at, l.due_at_ms, l.lease_ends_at_ms, l.ended_at
       FROM deliveries l WHERE l.webhook = w.seq AND l.state = s.state AND (l.created_at, l.seq) < ($3, $4)
       ORDER BY l.created_at DESC, l.seq DESC LIMIT $5
     ) d
     JOIN delivery_events e ON e.seq = d.event
   WHERE w.webhook_id = $1 ORDER BY d.created_at DESC, d.seq DESC LIMIT $5`,
);
const withBody = pgStatement<LoggedRow & { body: string }, [messageId: string, webhookId: string]>(
  "deliveries.with-body",
  `SELECT d.seq, d.message_id, e.event_id, e.kind, e.is_test, d.state, d.created_at, d.due_at_ms, d.lease_ends_at_ms,
     d.ended_at, e.body
   FROM deliveries d JOIN delivery_events e ON e.seq = d.event JOIN webhooks w ON w.seq = d.webhook
   WHERE d.message_id = $1 AND w.webhook_id = $2`,
);
const lastAttempts = pgStatement<AttemptRow & { delivery: number }, [deliveries: number[], max: number]>(
  "delivery-attempts.last",
  `SELECT d.delivery, a.at_ms, a.status, a.error, a.duration_ms, a.answer FROM unnest($1::bigint[]) AS d(delivery)
     CROSS JOIN LATERAL (
       SELECT l.seq, l.at_ms, l.status, l.error, l.duration_ms, l.answer FROM delivery_attempts l
       WHERE l.delivery = d.delivery ORDER BY l.seq DESC LIMIT $2
     ) a
   ORDER BY a.seq`,
);
interface EndedDelivery {
  readonly seq: number;
  readonly state: DeliveryState;
}

const deliveryToReplay = pgStatement<EndedDelivery, [messageId: string, webhook: number]>(
  "deliveries.to-replay",
  "SELECT seq, state FROM deliveries WHERE message_id = $1 AND webhook = $2",
);
const oldest = pgStatement<
  EndedDelivery & { readonly created_at: number },
  [
    webhook: number,
    states: readonly DeliveryState[],
    createdAfter: number,
    seqAfter: number,
    toSecs: number,
    max: number,
  ]
>(
  "deliveries.failed-between",
  `SELECT d.seq, d.created_at, d.state FROM unnest($2::text[]) AS s(state)
     CROSS JOIN LATERAL (
       SELECT l.seq, l.created_at, l.state FROM deliveries l
       WHERE l.webhook = $1 AND l.state = s.state AND (l.created_at, l.seq) > ($3, $4) AND l.created_at <= $5
       ORDER BY l.created_at, l.seq LIMIT $6
     ) d
   ORDER BY d.created_at, d.seq LIMIT $6`,
);
/** Omits deliveries that the sweep has deleted meanwhile. */
const queueAgain = pgStatement<
  { state: DeliveryState },
  [nowMs: number, seqs: number[], states: DeliveryState[]]
>(
  "deliveries.queue-again",
  `UPDATE deliveries d SET state = 'queued', attempts = 0, due_at_ms = $1, lease_ends_at_ms = NULL, claimed_by = NULL,
     ended_at = NULL
   FROM unnest($2::bigint[], $3::text[]) AS r(seq, state) WHERE d.seq = r.seq AND d.state = r.state RETURNING r.state`,
);

/** The owner's side of the deliveries in PostgreSQL. */
export function createPostgresDeliveryLog(
  { main }: Pick<PgPools, "main">,
  { node, limits }: { readonly node: StateNode; readonly limits: QueueLimits },
): DeliveryLog {
  const slot = totalsSlot(node, "main");

  /** Runs `work` on an active webhook that belongs to the caller; its queue stays locked until the commit. */
  function onOwn<T>(
    { id, ownerFid }: Claim,
    work: (tx: PgTransaction, webhook: { readonly seq: number; readonly queued: number }) => Promise<T>,
  ): Promise<T | "inactive" | StoreRefusal> {
    return main.transaction(async (tx) => {
      const webhook = await tx.get(webhookOwner, id);
      if (!webhook) return "not-found";
      if (webhook.owner_fid !== ownerFid) return "not-owner";
      if (!webhook.active) return "inactive";
      const { queued = 0 } = (await tx.get(lockQueue, webhook.seq)) ?? {};
      return work(tx, { seq: webhook.seq, queued });
    });
  }

  async function requeue(
    tx: PgTransaction,
    webhook: number,
    ended: readonly EndedDelivery[],
    nowMs: number,
  ): Promise<void> {
    if (ended.length === 0) return;
    const requeued = await tx.all(
      queueAgain,
      nowMs,
      ended.map(({ seq }) => seq),
      ended.map(({ state }) => state),
    );
    await tx.run(addQueued, requeued.length, webhook);
    const counts: Partial<Record<DeliveryState, number>> = { queued: requeued.length };
    for (const { state } of requeued) counts[state] = (counts[state] ?? 0) - 1;
    await addToDeliveryTotals(tx, slot, counts);
  }

  async function withAttempts(rows: readonly LoggedRow[]): Promise<LoggedDelivery[]> {
    if (rows.length === 0) return [];
    const attempts = new Map<number, Attempt[]>(rows.map(({ seq }) => [seq, []]));
    for (const row of await main.all(lastAttempts, [...attempts.keys()], MAX_SHOWN_ATTEMPTS))
      attempts.get(row.delivery)?.push(toAttempt(row));
    return rows.map((row) => toLogged(row, attempts.get(row.seq) ?? []));
  }

  return {
    async list(page) {
      const { webhookId, state } = page;
      const states = state === undefined ? [...deliveryStates] : [state];
      const { rows, next } = await readPage(page, ({ createdAt, seq }, max) =>
        main.all(newest, webhookId, states, createdAt, seq, max),
      );
      return { deliveries: await withAttempts(rows), next };
    },

    async find(webhookId, messageId) {
      const row = await main.get(withBody, messageId, webhookId);
      const [delivery] = row ? await withAttempts([row]) : [];
      return row && delivery && { delivery, body: row.body };
    },

    stats: (request) => readAttemptStats(main, request),

    totals: () => readDeliveryTotals(main),

    replay(claim, messageId, nowMs) {
      // A repetition after a lost answer queues what the first try found, which changes nothing if that is committed.
      let found: EndedDelivery | undefined;
      return onOwn(claim, async (tx, webhook) => {
        found ??= await tx.get(deliveryToReplay, messageId, webhook.seq);
        if (!found) return "unknown";
        if (found.state === "queued") return "still-queued";
        await requeue(tx, webhook.seq, [found], nowMs);
        return "queued";
      });
    },

    replayRange(claim, { fromSecs, toSecs }, { after, max, nowMs }) {
      // As in `replay`.
      let found: (EndedDelivery & { readonly created_at: number })[] | undefined;
      return onOwn(claim, async (tx, webhook) => {
        const { createdAt, seq } = after ?? { createdAt: fromSecs, seq: 0 };
        found ??= await tx.all(oldest, webhook.seq, REPLAYED_STATES, createdAt, seq, toSecs, max);
        await requeue(tx, webhook.seq, found, nowMs);
        const last = found.at(-1);
        return {
          queued: found.length,
          last: last && found.length === max ? { createdAt: last.created_at, seq: last.seq } : undefined,
        };
      });
    },

    queueTests: (claim, events, nowMs) =>
      onOwn(claim, async (tx, webhook) => {
        const messageIds = events.map(({ eventId }) => messageIdOf(eventId, claim.id));
        // All of them, after an earlier try whose answer was lost.
        const stored = (await storedMessageIds(tx, messageIds)).size;
        const room = limits.maxQueued - webhook.queued;
        if (events.length - stored > room) return "full";
        const { queued } = await queueEvents(tx, {
          events: events.map((event) => ({ ...event, webhookIds: [claim.id] })),
          webhooks: [{ seq: webhook.seq, webhookId: claim.id, room }],
          isTest: true,
          nowMs,
        });
        await addToDeliveryTotals(tx, slot, { queued });
        return "queued";
      }),
  };
}
