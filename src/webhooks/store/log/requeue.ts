import { sql, sqlEach } from "../../../db/state/sql.ts";
import type { Tx } from "../../../db/state/state-db.ts";
import type { Claim, StoreRefusal } from "../../../management/owned-store.ts";
import type { DeliveryState } from "../delivery-log.ts";
import { addToDeliveryTotals } from "../delivery-totals.ts";

/** The lock prevents changes of the webhook until the end of the transaction. */
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

export interface EndedDelivery {
  readonly seq: number;
  readonly state: DeliveryState;
}

/** Deliveries of a time range in some states, oldest first. */
export const endedBetween = sql<
  EndedDelivery & { readonly created_at: number },
  [webhook: number, states: string, createdAfter: number, seqAfter: number, toSecs: number, max: number]
>(
  "deliveries.ended-between",
  `SELECT d.seq, d.created_at, d.state FROM elements($2) t
     JOIN deliveries d ON d.seq = ANY (ARRAY(
       SELECT l.seq FROM deliveries l
       WHERE l.webhook = $1 AND l.state = t.value AND (l.created_at, l.seq) > ($3, $4) AND l.created_at <= $5
       ORDER BY l.created_at, l.seq LIMIT $6)::bigint[])
   ORDER BY d.created_at, d.seq LIMIT $6`,
);
/** Omits deliveries that the sweep has deleted meanwhile. */
const queueAgain = sqlEach<
  { seq: number },
  [seq: number, state: DeliveryState],
  [nowMs: number, replayId: string | null]
>(
  "deliveries.queue-again",
  `UPDATE deliveries SET state = 'queued', attempts = 0, due_at_ms = $2, lease_ends_at_ms = NULL, claimed_by = NULL,
     ended_at = NULL, replay_id = $3
   FROM rows($1) t WHERE seq = (t.value ->> 0)::bigint AND state = t.value ->> 1 RETURNING seq`,
);

/** Returns an active webhook that belongs to the caller. Its queue stays locked until the commit. */
export async function lockOwn(
  tx: Tx,
  { id, ownerFid }: Claim,
): Promise<{ readonly seq: number; readonly queued: number } | "inactive" | StoreRefusal> {
  const webhook = await tx.get(webhookOwner, id);
  if (!webhook) return "not-found";
  if (webhook.owner_fid !== ownerFid) return "not-owner";
  if (!webhook.active) return "inactive";
  const { queued = 0 } = (await tx.get(lockQueue, webhook.seq)) ?? {};
  return { seq: webhook.seq, queued };
}

/** Queues deliveries that have ended, with as many attempts as new ones. Returns how many there were. */
export async function requeue(
  tx: Tx,
  webhook: number,
  ended: readonly EndedDelivery[],
  { nowMs, replayId }: { readonly nowMs: number; readonly replayId: string | null },
): Promise<number> {
  if (ended.length === 0) return 0;
  const rows = await tx.each(
    queueAgain,
    ended.map(({ seq, state }) => [seq, state] as const),
    nowMs,
    replayId,
  );
  const requeued = new Set(rows.map(({ seq }) => seq));
  await tx.run(addQueued, requeued.size, webhook);
  const counts: Partial<Record<DeliveryState, number>> = { queued: requeued.size };
  for (const { seq, state } of ended) if (requeued.has(seq)) counts[state] = (counts[state] ?? 0) - 1;
  await addToDeliveryTotals(tx, "synced", counts);
  return requeued.size;
}
