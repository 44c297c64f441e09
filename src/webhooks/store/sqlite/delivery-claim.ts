import type { StateDatabase } from "../../../db/state/database.ts";
import { readSecrets } from "../../../db/state/secrets.ts";
import type { StateClock } from "../../../db/state/state-clock.ts";
import { statement } from "../../../db/state/statement.ts";
import type { CallLimit, Claimed, ClaimedDelivery, ClaimRequest } from "../delivery-queue.ts";
import { countCalls, remainingCalls } from "./delivery-rate.ts";
import { addToDeliveryTotals } from "./delivery-totals.ts";

/** Limit of deliveries that one claim drops, so that the transaction stays short. */
const MAX_DROPPED = 500;

interface WebhookRow {
  readonly seq: number;
  readonly owner_fid: number;
  readonly target_url: string;
  readonly compat_prefix: string | null;
  readonly behind_since_ms: number | null;
  readonly held_until_ms: number | null;
}

const activeWebhook = statement<WebhookRow, [webhookId: string]>(
  "webhooks.to-deliver",
  `SELECT w.seq, w.owner_fid, w.target_url, w.compat_prefix, h.behind_since_ms, h.held_until_ms FROM webhooks w
   JOIN webhook_health h ON h.webhook = w.seq WHERE w.webhook_id = ? AND w.active = 1`,
);
interface DueRow {
  readonly seq: number;
  readonly message_id: string;
  readonly attempts: number;
  readonly due_at_ms: number;
  readonly body: string;
}

const longestDue = statement<DueRow, [webhook: number, nowMs: number, max: number]>(
  "deliveries.longest-due",
  `SELECT seq, message_id, attempts, due_at_ms, (SELECT body FROM delivery_events e WHERE e.seq = event) AS body
   FROM deliveries WHERE webhook = ? AND due_at_ms <= ? ORDER BY due_at_ms, seq LIMIT ?`,
);
const lease = statement<unknown, [leaseEndsAtMs: number, bootId: string, seq: number]>(
  "deliveries.lease",
  "UPDATE deliveries SET due_at_ms = ?1, lease_ends_at_ms = ?1, claimed_by = ?2 WHERE seq = ?3",
);
const firstDue = statement<{ due_at_ms: number }, [webhook: number]>(
  "deliveries.first-due",
  `SELECT due_at_ms FROM deliveries WHERE webhook = ? AND due_at_ms IS NOT NULL ORDER BY due_at_ms LIMIT 1`,
);
const dueAfter = statement<{ one: number }, [webhook: number, dueAfterMs: number]>(
  "deliveries.due-after",
  "SELECT 1 AS one FROM deliveries WHERE webhook = ? AND due_at_ms > ? LIMIT 1",
);
const pullDue = statement<unknown, [nowMs: number, webhook: number, farthestMs: number]>(
  "deliveries.pull-due",
  "UPDATE deliveries SET due_at_ms = ?1 WHERE webhook = ?2 AND due_at_ms > ?3 AND lease_ends_at_ms IS NULL",
);
const pullLeased = statement<unknown, [leaseEndsAtMs: number, webhook: number, farthestMs: number]>(
  "deliveries.pull-leased",
  "UPDATE deliveries SET due_at_ms = ?1 WHERE webhook = ?2 AND due_at_ms > ?3 AND lease_ends_at_ms IS NOT NULL",
);
const dropOverdue = statement<unknown, [nowSecs: number, webhook: number, dueUntilMs: number, max: number]>(
  "deliveries.drop",
  `UPDATE deliveries SET state = 'dropped', due_at_ms = NULL, lease_ends_at_ms = NULL, claimed_by = NULL,
     ended_at = ?1 WHERE seq IN
     (SELECT seq FROM deliveries WHERE webhook = ?2 AND due_at_ms <= ?3 ORDER BY due_at_ms, seq LIMIT ?4)`,
);
const setBehind = statement<unknown, [webhook: number, behindSinceMs: number | null, dropped: number]>(
  "webhook-health.behind",
  `UPDATE webhook_health SET behind_since_ms = ?2, dropped = dropped + ?3, queued = queued - ?3
   WHERE webhook = ?1`,
);

/** Implements `DeliveryQueue.claim` within the caller's transaction. */
export function claimDelivery(
  db: StateDatabase,
  { clock, bootId }: { readonly clock: StateClock; readonly bootId: string },
  request: ClaimRequest,
): Claimed | undefined {
  const { webhookId, nowMs, leaseEndsAtMs, maxRetryDelayMs, limit, max, maxHoldMs } = request;
  const webhook = db.get(activeWebhook, webhookId);
  if (!webhook) return undefined;
  const farthestMs = nowMs + maxRetryDelayMs;
  if (db.get(dueAfter, webhook.seq, farthestMs)) {
    // An attempt in flight keeps its lease; the lease only starts again.
    db.run(pullLeased, leaseEndsAtMs, webhook.seq, farthestMs);
    db.run(pullDue, nowMs, webhook.seq, farthestMs);
  }
  const heldUntilMs = webhook.held_until_ms ?? 0;
  if (heldUntilMs > nowMs && heldUntilMs <= farthestMs) {
    // The receiver requested this wait, so it does not count as waiting for a turn.
    if (webhook.behind_since_ms !== null) db.run(setBehind, webhook.seq, null, 0);
    return { deliveries: [], dropped: 0, nextAtMs: db.get(firstDue, webhook.seq) ? heldUntilMs : null };
  }
  // Rates and waits are spans of time, so they are measured on the clock that does not jump.
  const stateMs = clock.nowMs();
  const allowance = remainingCalls(db, webhook.seq, limit, { maxHoldMs, nowMs: stateMs });
  const claimable = Math.min(max, allowance.calls);
  const rows = claimable > 0 ? db.all(longestDue, webhook.seq, nowMs, claimable) : [];
  for (const { seq } of rows) db.run(lease, leaseEndsAtMs, bootId, seq);
  const deliveries =
    rows.length === 0
      ? []
      : claimedDeliveries(rows, {
          leaseEndsAtMs,
          countedAtMs: countCalls(db, webhook.seq, limit, { maxHoldMs, nowMs: stateMs }, rows.length),
          ownerFid: webhook.owner_fid,
          targetUrl: webhook.target_url,
          compatPrefix: webhook.compat_prefix,
          secrets: readSecrets(db, [webhookId], Math.floor(nowMs / 1000)).get(webhookId) ?? [],
        });
  const mayGoOnAtMs = allowance.calls > rows.length ? nowMs : nowMs + allowance.nextCallAtMs - stateMs;
  return { deliveries, ...checkRemaining(db, webhook, { limit, nowMs, stateMs, mayGoOnAtMs }) };
}

function claimedDeliveries(
  rows: readonly DueRow[],
  shared: Omit<ClaimedDelivery, "seq" | "messageId" | "attempts" | "dueAtMs" | "body">,
): ClaimedDelivery[] {
  return rows.map(({ seq, message_id, attempts, due_at_ms, body }) => ({
    ...shared,
    seq,
    messageId: message_id,
    attempts,
    dueAtMs: due_at_ms,
    body,
  }));
}

/**
 * Checks the deliveries that remain after a claim: drops those that have waited too long and returns when to claim next.
 * A wait counts from when the delivery was due or from when its webhook fell behind, whichever is later, so that inactive
 * time does not count.
 */
function checkRemaining(
  db: StateDatabase,
  webhook: WebhookRow,
  claim: {
    readonly limit: CallLimit;
    readonly nowMs: number;
    readonly stateMs: number;
    readonly mayGoOnAtMs: number;
  },
): Pick<Claimed, "dropped" | "nextAtMs"> {
  const { limit, nowMs, stateMs, mayGoOnAtMs } = claim;
  const first = db.get(firstDue, webhook.seq);
  if (!first || first.due_at_ms > nowMs) {
    if (webhook.behind_since_ms !== null) db.run(setBehind, webhook.seq, null, 0);
    return { dropped: 0, nextAtMs: first?.due_at_ms ?? null };
  }
  const sinceMs = webhook.behind_since_ms ?? stateMs;
  const dropped =
    stateMs - sinceMs >= limit.maxWaitMs
      ? db.run(dropOverdue, Math.floor(nowMs / 1000), webhook.seq, nowMs - limit.maxWaitMs, MAX_DROPPED)
      : 0;
  if (dropped > 0 || webhook.behind_since_ms === null) db.run(setBehind, webhook.seq, sinceMs, dropped);
  addToDeliveryTotals(db, "queued", -dropped);
  addToDeliveryTotals(db, "dropped", dropped);
  const next = dropped > 0 ? db.get(firstDue, webhook.seq) : first;
  if (!next) return { dropped, nextAtMs: null };
  const givesUpAtMs = Math.max(next.due_at_ms, sinceMs + nowMs - stateMs) + limit.maxWaitMs;
  return { dropped, nextAtMs: Math.max(Math.min(mayGoOnAtMs, givesUpAtMs), next.due_at_ms) };
}
