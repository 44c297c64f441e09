import { sql, sqlEach } from "../../../db/state/sql.ts";
import type { Tx } from "../../../db/state/state-db.ts";
import type { ClaimRequest } from "../delivery-queue.ts";

/** Number of parts of a rate limit's window; a part counts until all of it has left the window. */
const PARTS = 60;

const addCalls = sqlEach<
  { webhook: number; count: number },
  [webhook: number, calls: number],
  [startsAtMs: number]
>(
  "delivery-rates.add",
  `INSERT INTO delivery_rates AS c (webhook, starts_at_ms, count)
   SELECT (t.value ->> 0)::bigint, $2::bigint, (t.value ->> 1)::bigint FROM rows($1) t WHERE true
   ON CONFLICT (webhook, starts_at_ms) DO UPDATE SET count = c.count + excluded.count RETURNING webhook, count`,
);
const forgetCalls = sql<unknown, [webhooks: readonly number[], startsUntilMs: number]>(
  "delivery-rates.forget",
  "DELETE FROM delivery_rates WHERE webhook = ANY ($1::bigint[]) AND starts_at_ms <= $2",
);
/**
 * The window of a rate limit, in which calls are counted by parts. Parts count as a whole, which makes the limit stricter by at most one
 * part plus `maxHoldMs`.
 */
export interface RateWindow {
  readonly partMs: number;
  /**
   * A part that starts within this time before a claim counts, so that no span of the window's length has more starts of calls than the
   * limit.
   */
  readonly reachMs: number;
}

export function windowOf({ limit, maxHoldMs }: Pick<ClaimRequest, "limit" | "maxHoldMs">): RateWindow {
  const partMs = Math.max(Math.ceil(limit.windowMs / PARTS), 1);
  return { partMs, reachMs: limit.windowMs + maxHoldMs + partMs };
}

/**
 * Counts calls within the transaction that claims their deliveries.
 *
 * @param calls the number of calls by webhook.
 * @returns the start of the part of the window in which they are counted.
 */
export async function countCalls(
  tx: Tx,
  { partMs, reachMs }: RateWindow,
  nowMs: number,
  calls: ReadonlyMap<number, number>,
): Promise<number> {
  const startsAtMs = nowMs - (nowMs % partMs);
  const counted = await tx.each(addCalls, [...calls], startsAtMs);
  // One deletion for each new part bounds the number of rows.
  const first = counted.filter(({ webhook, count }) => calls.get(webhook) === count);
  if (first.length > 0)
    await tx.run(
      forgetCalls,
      first.map(({ webhook }) => webhook),
      nowMs - reachMs,
    );
  return startsAtMs;
}
