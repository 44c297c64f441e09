import type { StateDatabase } from "../../../db/state/database.ts";
import { statement } from "../../../db/state/statement.ts";
import type { StoreWrites } from "../../../db/state/store-writes.ts";
import type { Claim, StoreRefusal } from "../../../management/owned-store.ts";
import {
  type DeliveryLog,
  type DeliveryPosition,
  type DeliveryState,
  deliveryStates,
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
import { readAttemptStats } from "./attempt-stats.ts";
import { queueEvent } from "./delivery-publications.ts";
import { addToDeliveryTotals, readDeliveryTotals } from "./delivery-totals.ts";

interface OwnWebhook {
  readonly seq: number;
  readonly owner_fid: number;
  readonly active: number;
}

const webhookOwner = statement<OwnWebhook, [webhookId: string]>(
  "webhooks.to-replay",
  "SELECT seq, owner_fid, active FROM webhooks WHERE webhook_id = ?",
);
const newestOfState = statement<
  LoggedRow,
  [webhookId: string, state: DeliveryState, createdBefore: number, seqBefore: number, max: number]
>(
  "deliveries.list",
  `SELECT d.seq, d.message_id, e.event_id, e.kind, e.is_test, d.state, d.created_at, d.due_at_ms,
     d.lease_ends_at_ms, d.ended_at
   FROM webhooks w CROSS JOIN deliveries d ON d.webhook = w.seq AND d.state = ?2
     CROSS JOIN delivery_events e ON e.seq = d.event
   WHERE w.webhook_id = ?1 AND (d.created_at, d.seq) < (?3, ?4)
   ORDER BY d.created_at DESC, d.seq DESC LIMIT ?5`,
);
const withBody = statement<LoggedRow & { body: string }, [messageId: string, webhookId: string]>(
  "deliveries.with-body",
  `SELECT d.seq, d.message_id, e.event_id, e.kind, e.is_test, d.state, d.created_at, d.due_at_ms,
     d.lease_ends_at_ms, d.ended_at, e.body
   FROM deliveries d CROSS JOIN delivery_events e ON e.seq = d.event CROSS JOIN webhooks w ON w.seq = d.webhook
   WHERE d.message_id = ?1 AND w.webhook_id = ?2`,
);
const lastAttempts = statement<AttemptRow, [delivery: number, max: number]>(
  "delivery-attempts.last",
  `SELECT at_ms, status, error, duration_ms, answer FROM delivery_attempts WHERE delivery = ?
   ORDER BY seq DESC LIMIT ?`,
);
const deliveryToReplay = statement<
  { seq: number; state: DeliveryState },
  [messageId: string, webhook: number]
>("deliveries.to-replay", "SELECT seq, state FROM deliveries WHERE message_id = ? AND webhook = ?");
const oldestOfState = statement<
  { seq: number; created_at: number; state: DeliveryState },
  [webhook: number, state: DeliveryState, createdAfter: number, seqAfter: number, toSecs: number, max: number]
>(
  "deliveries.failed-between",
  `SELECT seq, created_at, state FROM deliveries
   WHERE webhook = ?1 AND state = ?2 AND (created_at, seq) > (?3, ?4) AND created_at <= ?5
   ORDER BY created_at, seq LIMIT ?6`,
);
const queueAgain = statement<unknown, [nowMs: number, seq: number]>(
  "deliveries.queue-again",
  `UPDATE deliveries SET state = 'queued', attempts = 0, due_at_ms = ?, lease_ends_at_ms = NULL, claimed_by = NULL,
     ended_at = NULL WHERE seq = ?`,
);
const addQueued = statement<unknown, [added: number, webhook: number]>(
  "webhook-health.add-queued",
  "UPDATE webhook_health SET queued = queued + ? WHERE webhook = ?",
);
const queuedOf = statement<{ queued: number }, [webhook: number]>(
  "webhook-health.queued",
  "SELECT queued FROM webhook_health WHERE webhook = ?",
);

export function deliveryLogReads(db: StateDatabase): Pick<DeliveryLog, "list" | "find" | "stats" | "totals"> {
  return {
    async list(page) {
      const { webhookId, state } = page;
      const { rows, next } = await readPage(page, async ({ createdAt, seq }, max) =>
        db.snapshot(() =>
          (state === undefined ? deliveryStates : [state])
            .flatMap((one) => db.all(newestOfState, webhookId, one, createdAt, seq, max))
            .sort((a, b) => b.created_at - a.created_at || b.seq - a.seq)
            .slice(0, max),
        ),
      );
      return db.snapshot(() => ({
        deliveries: rows.map((row) => toLogged(row, attemptsOf(db, row.seq))),
        next,
      }));
    },

    find: async (webhookId, messageId) =>
      db.snapshot(() => {
        const row = db.get(withBody, messageId, webhookId);
        return row && { delivery: toLogged(row, attemptsOf(db, row.seq)), body: row.body };
      }),

    stats: async (request) => readAttemptStats(db, request),

    totals: async () => readDeliveryTotals(db),
  };
}

export function deliveryLogWrites(
  db: StateDatabase,
  limits: QueueLimits,
): StoreWrites<DeliveryLog, "replay" | "replayRange" | "queueTests"> {
  /** Runs `work` on an active webhook that belongs to the caller. */
  function onOwn<T>({ id, ownerFid }: Claim, work: (webhook: number) => T): T | "inactive" | StoreRefusal {
    const webhook = db.get(webhookOwner, id);
    if (!webhook) return "not-found";
    if (webhook.owner_fid !== ownerFid) return "not-owner";
    return webhook.active === 1 ? work(webhook.seq) : "inactive";
  }

  function requeue(
    webhook: number,
    ended: readonly { readonly seq: number; readonly state: DeliveryState }[],
    nowMs: number,
  ): void {
    for (const { seq, state } of ended) {
      db.run(queueAgain, nowMs, seq);
      addToDeliveryTotals(db, state, -1);
    }
    addToDeliveryTotals(db, "queued", ended.length);
    db.run(addQueued, ended.length, webhook);
  }

  return {
    replay: (claim, messageId, nowMs) =>
      onOwn(claim, (webhook) => {
        const delivery = db.get(deliveryToReplay, messageId, webhook);
        if (!delivery) return "unknown";
        if (delivery.state === "queued") return "still-queued";
        requeue(webhook, [delivery], nowMs);
        return "queued";
      }),

    replayRange: (claim, { fromSecs, toSecs }, { after, max, nowMs }) =>
      onOwn(claim, (webhook) => {
        const { createdAt, seq }: DeliveryPosition = after ?? { createdAt: fromSecs, seq: 0 };
        const found = REPLAYED_STATES.flatMap((state) =>
          db.all(oldestOfState, webhook, state, createdAt, seq, toSecs, max),
        )
          .sort((a, b) => a.created_at - b.created_at || a.seq - b.seq)
          .slice(0, max);
        requeue(webhook, found, nowMs);
        const last = found.at(-1);
        return {
          queued: found.length,
          last: last && found.length === max ? { createdAt: last.created_at, seq: last.seq } : undefined,
        };
      }),

    queueTests: (claim, events, nowMs) =>
      onOwn(claim, (webhook) => {
        const queued = db.get(queuedOf, webhook)?.queued ?? 0;
        if (queued + events.length > limits.maxQueued) return "full";
        for (const event of events) {
          queueEvent(db, { ...event, webhookIds: [claim.id], isTest: true }, nowMs, limits);
        }
        return "queued";
      }),
  };
}

function attemptsOf(db: StateDatabase, delivery: number): Attempt[] {
  return db.all(lastAttempts, delivery, MAX_SHOWN_ATTEMPTS).map(toAttempt).reverse();
}
