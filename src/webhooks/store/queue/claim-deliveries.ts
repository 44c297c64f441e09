import { readSecrets } from "../../../db/state/secrets.ts";
import { rowSpelling, sql, sqlEach } from "../../../db/state/sql.ts";
import type { Tx } from "../../../db/state/state-db.ts";
import { CALLS_PER_WEBHOOK, type Claimed, type ClaimedDelivery } from "../delivery-queue.ts";
import { countCalls, windowOf } from "./call-rates.ts";
import type { ClaimGroup, ClaimTime, Plan, WebhookRow } from "./remaining-deliveries.ts";
import { checkRemaining } from "./remaining-deliveries.ts";

/** When to try again: while another transaction has locked the webhook's queue, and while other processes use all of its calls. */
const QUEUE_BUSY_MS = 20;
const CALLS_BUSY_MS = 25;

/** The health row of a webhook is the lock of its queue. Claims never wait for it. */
const lockQueues = sql<{ webhook_id: string }, [webhookIds: readonly string[]]>(
  "webhook-health.lock-queues",
  `SELECT w.webhook_id FROM webhooks w JOIN webhook_health h ON h.webhook = w.seq
   WHERE w.webhook_id = ANY ($1::text[]) FOR NO KEY UPDATE OF h SKIP LOCKED`,
);

const toDeliverText = (leases: string) =>
  `SELECT w.seq, w.webhook_id, w.owner_fid, w.target_url, w.compat_prefix, h.behind_since_ms, h.held_until_ms,
     (SELECT sum(c.count) FROM delivery_rates c WHERE c.webhook = w.seq AND c.starts_at_ms > $2)::bigint AS calls,
     (SELECT min(c.starts_at_ms) FROM delivery_rates c WHERE c.webhook = w.seq AND c.starts_at_ms > $2) AS first_call_ms,
     ${leases},
     EXISTS (SELECT 1 FROM deliveries f WHERE f.webhook = w.seq AND f.due_at_ms > $5) AS has_far
   FROM webhooks w JOIN webhook_health h ON h.webhook = w.seq, rows($1) t WHERE w.webhook_id = t.value ->> 0 AND w.active`;
const NO_LEASES = "0 AS own, 0 AS others";
/** Read after the lock, so that it is the webhook's current state. SQLite has no other processes. */
const toDeliver = sqlEach<
  WebhookRow,
  [webhookId: string],
  [windowStartsMs: number, nowMs: number, bootId: string, farthestMs: number]
>(
  "webhooks.to-deliver",
  toDeliverText(
    `(SELECT count(*) FROM deliveries d WHERE d.webhook = w.seq AND d.lease_ends_at_ms > $3 AND d.claimed_by = $4) AS own,
     (SELECT count(*) FROM deliveries d WHERE d.webhook = w.seq AND d.lease_ends_at_ms > $3 AND d.claimed_by <> $4) AS others`,
  ),
  { row: rowSpelling(toDeliverText(NO_LEASES)), rows: toDeliverText(NO_LEASES) },
);
/** An attempt in flight keeps its lease, which only starts again. */
const pullFar = sql<
  unknown,
  [nowMs: number, leaseEndsAtMs: number, webhooks: readonly number[], farthestMs: number]
>(
  "deliveries.pull-far",
  `UPDATE deliveries SET due_at_ms = CASE WHEN lease_ends_at_ms IS NULL THEN $1::bigint ELSE $2::bigint END
   WHERE webhook = ANY ($3::bigint[]) AND due_at_ms > $4`,
);

interface DueRow {
  readonly seq: number;
  readonly webhook: number;
  readonly message_id: string;
  readonly attempts: number;
  readonly due_at_ms: number;
  readonly replay_id: string | null;
  readonly body: string;
}

const longestDue = sqlEach<DueRow, [webhook: number, max: number], [nowMs: number]>(
  "deliveries.longest-due",
  `SELECT d.seq, d.webhook, d.message_id, d.attempts, d.due_at_ms, d.replay_id, e.body FROM rows($1) t
   CROSS JOIN LATERAL (
     SELECT f.seq, f.webhook, f.message_id, f.attempts, f.due_at_ms, f.replay_id, f.event FROM deliveries f
     WHERE f.webhook = (t.value ->> 0)::bigint AND f.due_at_ms <= $2
     ORDER BY f.due_at_ms, f.seq LIMIT (t.value ->> 1)::bigint FOR NO KEY UPDATE SKIP LOCKED
   ) d JOIN delivery_events e ON e.seq = d.event ORDER BY d.due_at_ms, d.seq`,
  {
    row: `SELECT seq, webhook, message_id, attempts, due_at_ms, replay_id, (SELECT body FROM delivery_events e WHERE e.seq = event) AS body
   FROM deliveries WHERE webhook = ?2 AND due_at_ms <= ?1 ORDER BY due_at_ms, seq LIMIT ?3`,
  },
);
const lease = sqlEach<unknown, [seq: number], [leaseEndsAtMs: number, bootId: string]>(
  "deliveries.lease",
  `UPDATE deliveries SET due_at_ms = $2, lease_ends_at_ms = $2, claimed_by = $3
   FROM rows($1) t WHERE seq = (t.value ->> 0)::bigint`,
);

/**
 * Claims deliveries of several webhooks (`DeliveryQueue.claim`) within the caller's transaction.
 *
 * A process keeps its own calls within `CALLS_PER_WEBHOOK`, so it may lease any number while no other process has a lease; otherwise a
 * lease counts as a call.
 *
 * @returns the result for each of `wanted`.
 */
export async function claimDeliveries(tx: Tx, group: ClaimGroup): Promise<readonly (Claimed | undefined)[]> {
  const { nowMs, leaseEndsAtMs, maxRetryDelayMs, wanted } = group;
  const time = { ...group, stateMs: tx.clock.nowMs(), window: windowOf(group) };
  const webhookIds = wanted.map(({ webhookId }) => webhookId);
  const locked = (await tx.lockRows(lockQueues, webhookIds))?.map(({ webhook_id }) => webhook_id);
  const isLocked = (webhookId: string) => locked === undefined || locked.includes(webhookId);
  const windowStartsMs = time.stateMs - time.window.reachMs;
  const farthestMs = nowMs + maxRetryDelayMs;
  const ids = webhookIds.map((id) => [id] as const);
  const rows = await tx.each(toDeliver, ids, windowStartsMs, nowMs, tx.node.bootId, farthestMs);
  const byId = new Map(rows.map((row) => [row.webhook_id, row]));
  const far = rows.filter(({ webhook_id, has_far }) => has_far && isLocked(webhook_id));
  if (far.length > 0)
    await tx.run(
      pullFar,
      nowMs,
      leaseEndsAtMs,
      far.map(({ seq }) => seq),
      farthestMs,
    );
  const plans = wanted.flatMap(({ webhookId, max }) => {
    const webhook = byId.get(webhookId);
    return webhook && isLocked(webhookId) ? [planOf(webhook, max, time)] : [];
  });
  const claimed = await leaseDue(tx, time, plans);
  const remaining = await checkRemaining(tx, time, plans, claimed);
  return wanted.map(({ webhookId }) => {
    const webhook = byId.get(webhookId);
    if (!webhook) return undefined;
    const rest = remaining.get(webhook.seq) ?? { dropped: 0, nextAtMs: nowMs + QUEUE_BUSY_MS };
    return { deliveries: claimed.get(webhook.seq) ?? [], ...rest };
  });
}

function planOf(webhook: WebhookRow, max: number, time: ClaimTime): Plan {
  const { nowMs, maxRetryDelayMs, limit, stateMs, window } = time;
  const { held_until_ms: held, own, others } = webhook;
  const isHeld = held !== null && held > nowMs && held <= nowMs + maxRetryDelayMs;
  const allowed = Math.max(limit.calls - (webhook.calls ?? 0), 0);
  const room = others === 0 ? max : Math.max(Math.min(max, CALLS_PER_WEBHOOK - others - own), 0);
  const nextCallInMs = (webhook.first_call_ms ?? stateMs) + window.reachMs - stateMs;
  return {
    webhook,
    heldUntilMs: isHeld ? held : null,
    take: isHeld ? 0 : Math.min(allowed, room),
    goesOnAtMs(taken) {
      if (allowed <= taken) return nowMs + nextCallInMs;
      return others > 0 && room <= taken ? nowMs + CALLS_BUSY_MS : nowMs;
    },
  };
}

/** Leases deliveries and counts their calls. Returns them by webhook, longest due first. */
async function leaseDue(
  tx: Tx,
  time: ClaimTime,
  plans: readonly Plan[],
): Promise<ReadonlyMap<number, readonly ClaimedDelivery[]>> {
  const taking = plans.filter(({ take }) => take > 0);
  if (taking.length === 0) return new Map();
  const { nowMs, leaseEndsAtMs } = time;
  const due = await tx.each(
    longestDue,
    taking.map(({ webhook, take }) => [webhook.seq, take] as const),
    nowMs,
  );
  if (due.length === 0) return new Map();
  const byWebhook = Map.groupBy(due, ({ webhook }) => webhook);
  const claims = taking.flatMap(({ webhook }) => {
    const rows = byWebhook.get(webhook.seq);
    return rows ? [{ webhook, rows }] : [];
  });
  await tx.each(
    lease,
    due.map(({ seq }) => [seq] as const),
    leaseEndsAtMs,
    tx.node.bootId,
  );
  const calls = new Map(claims.map(({ webhook, rows }) => [webhook.seq, rows.length]));
  const countedAtMs = await countCalls(tx, time.window, time.stateMs, calls);
  const holders = claims.map(({ webhook }) => webhook.webhook_id);
  const secrets = await readSecrets(tx, holders, Math.floor(nowMs / 1000));
  return new Map(
    claims.map(({ webhook, rows }) => {
      const shared = {
        leaseEndsAtMs,
        countedAtMs,
        ownerFid: webhook.owner_fid,
        targetUrl: webhook.target_url,
        compatPrefix: webhook.compat_prefix,
        secrets: secrets.get(webhook.webhook_id) ?? [],
      };
      const deliveries = rows.map(({ seq, message_id, attempts, due_at_ms, replay_id, body }) => ({
        ...shared,
        seq,
        messageId: message_id,
        attempts,
        dueAtMs: due_at_ms,
        replayId: replay_id,
        body,
      }));
      return [webhook.seq, deliveries];
    }),
  );
}
