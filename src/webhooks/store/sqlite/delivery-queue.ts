import type { StateDatabase } from "../../../db/state/database.ts";
import { type StateClock, stateSecs } from "../../../db/state/state-clock.ts";
import type { StateNode } from "../../../db/state/state-node.ts";
import { statement } from "../../../db/state/statement.ts";
import type { StoreWrites } from "../../../db/state/store-writes.ts";
import { AttemptCounts } from "../attempt-counts.ts";
import type { DeliveryQueue, DueWebhook, FailureRule, Settlement } from "../delivery-queue.ts";
import { settledDelivery } from "../settled-delivery.ts";
import { addAttemptCounts } from "./attempt-stats.ts";
import { claimDelivery } from "./delivery-claim.ts";
import { uncountCall } from "./delivery-rate.ts";
import { addToDeliveryTotals } from "./delivery-totals.ts";
import { holdWebhook, recordFailedAttempt, recordFailedDelivery, recordSuccesses } from "./webhook-health.ts";

/** Leases of older versions have no boot. */
const endLeasesOfOthers = statement<unknown, [nowMs: number, bootId: string, max: number]>(
  "deliveries.end-leases",
  `UPDATE deliveries SET due_at_ms = ?1, lease_ends_at_ms = NULL, claimed_by = NULL WHERE seq IN
     (SELECT seq FROM deliveries WHERE lease_ends_at_ms > 0 AND claimed_by IS NOT ?2
      ORDER BY lease_ends_at_ms LIMIT ?3)`,
);
const nextDueWebhook = statement<
  { seq: number; webhook_id: string | null; due_at_ms: number; is_failing: number | null },
  [afterWebhook: number]
>(
  "deliveries.next-lane",
  `SELECT d.webhook AS seq, w.webhook_id, d.due_at_ms,
     h.last_failure_at > coalesce(h.last_success_at, 0) AS is_failing FROM deliveries d
   LEFT JOIN webhooks w ON w.seq = d.webhook AND w.active = 1
   LEFT JOIN webhook_health h ON h.webhook = d.webhook
   WHERE d.webhook > ? AND d.due_at_ms IS NOT NULL ORDER BY d.webhook, d.due_at_ms LIMIT 1`,
);
const settleLeased = statement<
  { webhook: number },
  [
    state: string,
    dueAtMs: number | null,
    endedAt: number | null,
    seq: number,
    leaseEndsAtMs: number,
    bootId: string,
  ]
>(
  "deliveries.settle",
  `UPDATE deliveries SET state = ?, attempts = attempts + 1, due_at_ms = ?, lease_ends_at_ms = NULL, claimed_by = NULL,
     ended_at = ? WHERE seq = ? AND lease_ends_at_ms = ? AND claimed_by = ? RETURNING webhook`,
);
const releaseLeased = statement<
  { webhook: number },
  [dueAtMs: number, seq: number, leaseEndsAtMs: number, bootId: string]
>(
  "deliveries.release",
  `UPDATE deliveries SET due_at_ms = ?, lease_ends_at_ms = NULL, claimed_by = NULL
   WHERE seq = ? AND lease_ends_at_ms = ? AND claimed_by = ? RETURNING webhook`,
);
const insertAttempt = statement<
  unknown,
  [
    delivery: number,
    atMs: number,
    status: number | null,
    error: string | null,
    durationMs: number,
    responseText: string,
  ]
>(
  "delivery-attempts.insert",
  `INSERT INTO delivery_attempts (delivery, at_ms, status, error, duration_ms, answer) VALUES (?, ?, ?, ?, ?, ?)`,
);

export function queueReads(db: StateDatabase): Pick<DeliveryQueue, "dueWebhooks"> {
  return {
    dueWebhooks: async (after, max) =>
      db.snapshot(() => {
        const webhooks: DueWebhook[] = [];
        let position = after;
        for (let read = 0; read < max; read += 1) {
          const next = db.get(nextDueWebhook, position);
          if (!next) return { webhooks, last: undefined };
          position = next.seq;
          if (next.webhook_id === null) continue;
          const isFailing = next.is_failing === 1;
          webhooks.push({ webhookId: next.webhook_id, dueAtMs: next.due_at_ms, isFailing });
        }
        return { webhooks, last: position };
      }),
  };
}

export function queueWrites(
  db: StateDatabase,
  clock: StateClock,
  { bootId }: StateNode,
): StoreWrites<DeliveryQueue, "endLeasesOfTheDead" | "claim" | "settle" | "unclaim" | "release"> {
  const context = { clock, bootId };
  return {
    // No other process writes this database.
    endLeasesOfTheDead: (nowMs, max) => db.run(endLeasesOfOthers, nowMs, bootId, max),
    claim: (request) => claimDelivery(db, context, request),
    settle: (settlements, rule) => settle(db, context, settlements, rule),
    unclaim(deliveries) {
      for (const { seq, leaseEndsAtMs, dueAtMs, countedAtMs } of deliveries) {
        const released = db.get(releaseLeased, dueAtMs, seq, leaseEndsAtMs, bootId);
        if (released) uncountCall(db, released.webhook, countedAtMs);
      }
    },
    release({ seq, leaseEndsAtMs }, nowMs) {
      db.get(releaseLeased, nowMs, seq, leaseEndsAtMs, bootId);
    },
  };
}

/** Settles deliveries in order. Successes in a row of one webhook share the update of its health. */
function settle(
  db: StateDatabase,
  { clock, bootId }: { readonly clock: StateClock; readonly bootId: string },
  settlements: readonly Settlement[],
  rule: FailureRule,
): (string | undefined)[] {
  const ended = { delivered: 0, failed: 0 };
  const counts = new AttemptCounts();
  const successes = new Map<number, { count: number; lastSecs: number }>();
  const storeSuccesses = (webhook: number) => {
    const run = successes.get(webhook);
    if (run) recordSuccesses(db, webhook, run.lastSecs, run.count);
    successes.delete(webhook);
  };
  const reasons = settlements.map((settlement) => {
    const { delivery, attempt, verdict, holdUntilMs } = settlement;
    const { seq, leaseEndsAtMs } = delivery;
    const { atMs, status, error, durationMs, responseText } = attempt;
    const { state, dueAtMs, attemptedAt: nowSecs } = settledDelivery(settlement);
    const endedAt = state === "queued" ? null : nowSecs;
    const webhook = db.get(settleLeased, state, dueAtMs, endedAt, seq, leaseEndsAtMs, bootId)?.webhook;
    if (webhook === undefined) return undefined;
    db.run(insertAttempt, seq, atMs, status, error, durationMs, responseText);
    counts.add(webhook, settlement);
    if (state !== "queued") ended[state] += 1;
    let deactivated: string | undefined;
    if (verdict.kind === "delivered") {
      const count = (successes.get(webhook)?.count ?? 0) + 1;
      successes.set(webhook, { count, lastSecs: nowSecs });
    } else {
      storeSuccesses(webhook);
      if (verdict.kind === "retry") recordFailedAttempt(db, webhook, nowSecs);
      else {
        // A jump of the machine's clock does not lengthen a run of failures.
        const ranUntilSecs = Math.min(nowSecs, stateSecs(clock));
        const isGone = verdict.kind === "gone";
        deactivated = recordFailedDelivery(db, webhook, nowSecs, { isGone, rule, ranUntilSecs });
      }
    }
    if (holdUntilMs !== null) holdWebhook(db, webhook, holdUntilMs);
    return deactivated;
  });
  for (const webhook of successes.keys()) storeSuccesses(webhook);
  addAttemptCounts(db, counts);
  addToDeliveryTotals(db, "queued", -(ended.delivered + ended.failed));
  addToDeliveryTotals(db, "delivered", ended.delivered);
  addToDeliveryTotals(db, "failed", ended.failed);
  return reasons;
}
