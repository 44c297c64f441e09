import { sql, sqlEach } from "../../../db/state/sql.ts";
import type { Tx } from "../../../db/state/state-db.ts";
import type { Claimed, ClaimedDelivery, ClaimRequest } from "../delivery-queue.ts";
import { addToDeliveryTotals } from "../delivery-totals.ts";
import type { RateWindow } from "./call-rates.ts";

/** Claims that are made together, one per webhook, with the same time and limits. */
export interface ClaimGroup extends Omit<ClaimRequest, "webhookId" | "max"> {
  readonly wanted: readonly Pick<ClaimRequest, "webhookId" | "max">[];
}

export interface WebhookRow {
  readonly seq: number;
  readonly webhook_id: string;
  readonly owner_fid: number;
  readonly target_url: string;
  readonly compat_prefix: string | null;
  readonly behind_since_ms: number | null;
  readonly held_until_ms: number | null;
  /** Calls within the rate limit's window; null if none. */
  readonly calls: number | null;
  readonly first_call_ms: number | null;
  /** Deliveries leased by this process and by others. */
  readonly own: number;
  readonly others: number;
  /** Whether a delivery was scheduled before the clock was set back. 0 or 1 in SQLite. */
  readonly has_far: boolean | number;
}

/** Limit of deliveries that one claim drops, so that the transaction stays short. */
const MAX_DROPPED = 500;
const firstDue = sqlEach<{ webhook: number; due_at_ms: number | null }, [webhook: number]>(
  "deliveries.first-due",
  `SELECT h.webhook, (SELECT min(d.due_at_ms) FROM deliveries d WHERE d.webhook = h.webhook AND d.due_at_ms IS NOT NULL)
     AS due_at_ms FROM webhook_health h, rows($1) t WHERE h.webhook = (t.value ->> 0)::bigint`,
);
const dropOverdue = sql<unknown, [nowSecs: number, webhook: number, dueUntilMs: number, max: number]>(
  "deliveries.drop",
  `UPDATE deliveries SET state = 'dropped', due_at_ms = NULL, lease_ends_at_ms = NULL, claimed_by = NULL, ended_at = $1
   WHERE seq IN (SELECT d.seq FROM deliveries d WHERE d.webhook = $2 AND d.due_at_ms <= $3
     ORDER BY d.due_at_ms, d.seq LIMIT $4 FOR NO KEY UPDATE SKIP LOCKED)`,
);
const setBehind = sql<unknown, [webhook: number, behindSinceMs: number | null, dropped: number]>(
  "webhook-health.behind",
  `UPDATE webhook_health SET behind_since_ms = $2, dropped = dropped + $3, queued = queued - $3 WHERE webhook = $1`,
);

/** What a claim may do with a webhook, whose queue is locked. */
export interface Plan {
  readonly webhook: WebhookRow;
  /** Until when the receiver requested no calls; null if it did not. */
  readonly heldUntilMs: number | null;
  /** How many calls the rate limit and other processes leave. */
  readonly take: number;
  /** Returns when another claim may return more, given how many deliveries this one takes. */
  readonly goesOnAtMs: (taken: number) => number;
}

export interface ClaimTime extends ClaimGroup {
  /** Rates and waits are durations, so they are measured with the clock that does not jump. */
  readonly stateMs: number;
  readonly window: RateWindow;
}

type Remaining = Pick<Claimed, "dropped" | "nextAtMs">;

/**
 * Checks the deliveries that remain after a claim: drops those that have waited too long and returns when to claim next. A wait starts
 * when the delivery was due or when its webhook fell behind, whichever is later, so that inactive time does not count.
 */
export async function checkRemaining(
  tx: Tx,
  time: ClaimTime,
  plans: readonly Plan[],
  claimed: ReadonlyMap<number, readonly ClaimedDelivery[]>,
): Promise<ReadonlyMap<number, Remaining>> {
  if (plans.length === 0) return new Map();
  const seqs = plans.map(({ webhook }) => [webhook.seq] as const);
  const first = new Map(
    (await tx.each(firstDue, seqs)).map(({ webhook, due_at_ms }) => [webhook, due_at_ms]),
  );
  const remaining = new Map<number, Remaining>();
  let dropped = 0;
  for (const plan of plans) {
    const { seq } = plan.webhook;
    const goesOnAtMs = plan.goesOnAtMs(claimed.get(seq)?.length ?? 0);
    const rest = await checkWebhook(tx, time, plan, { firstMs: first.get(seq) ?? null, goesOnAtMs });
    dropped += rest.dropped;
    remaining.set(seq, rest);
  }
  await addToDeliveryTotals(tx, "unsynced", { queued: -dropped, dropped });
  return remaining;
}

async function checkWebhook(
  tx: Tx,
  { limit, nowMs, stateMs }: ClaimTime,
  { webhook, heldUntilMs }: Plan,
  { firstMs, goesOnAtMs }: { readonly firstMs: number | null; readonly goesOnAtMs: number },
): Promise<Remaining> {
  const { seq, behind_since_ms: behindSinceMs } = webhook;
  // The receiver requested this wait, so it does not count as waiting for a turn.
  if (heldUntilMs !== null || firstMs === null || firstMs > nowMs) {
    if (behindSinceMs !== null) await tx.run(setBehind, seq, null, 0);
    return { dropped: 0, nextAtMs: firstMs === null ? null : (heldUntilMs ?? firstMs) };
  }
  const sinceMs = behindSinceMs ?? stateMs;
  const dropped =
    stateMs - sinceMs >= limit.maxWaitMs
      ? await tx.run(dropOverdue, Math.floor(nowMs / 1000), seq, nowMs - limit.maxWaitMs, MAX_DROPPED)
      : 0;
  if (dropped > 0 || behindSinceMs === null) await tx.run(setBehind, seq, sinceMs, dropped);
  const nextMs = dropped > 0 ? ((await tx.each(firstDue, [[seq]]))[0]?.due_at_ms ?? null) : firstMs;
  if (nextMs === null) return { dropped, nextAtMs: null };
  const givesUpAtMs = Math.max(nextMs, sinceMs + nowMs - stateMs) + limit.maxWaitMs;
  return { dropped, nextAtMs: Math.max(Math.min(goesOnAtMs, givesUpAtMs), nextMs) };
}
