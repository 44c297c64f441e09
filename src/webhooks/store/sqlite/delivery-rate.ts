import type { StateDatabase } from "../../../db/state/database.ts";
import { statement } from "../../../db/state/statement.ts";
import type { CallLimit } from "../delivery-queue.ts";

/** Number of parts of a window; a part counts until all of it has left the window. */
const PARTS = 60;

const callsWithin = statement<
  { calls: number | null; first: number | null },
  [webhook: number, startsAfterMs: number]
>(
  "delivery-rates.within",
  `SELECT sum(count) AS calls, min(starts_at_ms) AS first FROM delivery_rates
   WHERE webhook = ? AND starts_at_ms > ?`,
);
const addCall = statement<{ count: number }, [webhook: number, startsAtMs: number]>(
  "delivery-rates.add",
  `INSERT INTO delivery_rates (webhook, starts_at_ms, count) VALUES (?, ?, 1)
   ON CONFLICT (webhook, starts_at_ms) DO UPDATE SET count = count + 1 RETURNING count`,
);
const deleteExpired = statement<unknown, [webhook: number, startsUntilMs: number]>(
  "delivery-rates.forget",
  "DELETE FROM delivery_rates WHERE webhook = ? AND starts_at_ms <= ?",
);

/** The calls that a webhook's rate limit still allows. */
export interface RemainingCalls {
  readonly calls: number;
  /** When the limit allows another call. */
  readonly nextCallAtMs: number;
}

/**
 * Returns how many calls may start now, so that no span of the window's length has more than the limit. Parts count as a
 * whole, which makes the limit stricter by at most one part.
 */
export function remainingCalls(
  db: StateDatabase,
  webhook: number,
  { calls: limit, windowMs }: CallLimit,
  nowMs: number,
): RemainingCalls {
  const reach = windowMs + partMs(windowMs);
  const { calls, first } = db.get(callsWithin, webhook, nowMs - reach) ?? { calls: 0, first: null };
  return { calls: Math.max(limit - (calls ?? 0), 0), nextCallAtMs: (first ?? nowMs) + reach };
}

/** Counts a call that starts now, within the transaction that claims its delivery. */
export function countCall(db: StateDatabase, webhook: number, { windowMs }: CallLimit, nowMs: number): void {
  const part = partMs(windowMs);
  const added = db.get(addCall, webhook, nowMs - (nowMs % part));
  // One deletion for each new part bounds the number of rows.
  if (added?.count === 1) db.run(deleteExpired, webhook, nowMs - windowMs - part);
}

function partMs(windowMs: number): number {
  return Math.max(Math.ceil(windowMs / PARTS), 1);
}
