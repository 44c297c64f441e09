import type { StateDatabase } from "../../../db/state/database.ts";
import { statement } from "../../../db/state/statement.ts";
import type { CallLimit } from "../delivery-queue.ts";
import { rateWindowOf } from "../rate-window.ts";

const callsWithin = statement<
  { calls: number | null; first: number | null },
  [webhook: number, startsAfterMs: number]
>(
  "delivery-rates.within",
  `SELECT sum(count) AS calls, min(starts_at_ms) AS first FROM delivery_rates
   WHERE webhook = ? AND starts_at_ms > ?`,
);
const addCalls = statement<{ count: number }, [webhook: number, startsAtMs: number, calls: number]>(
  "delivery-rates.add",
  `INSERT INTO delivery_rates (webhook, starts_at_ms, count) VALUES (?1, ?2, ?3)
   ON CONFLICT (webhook, starts_at_ms) DO UPDATE SET count = count + ?3 RETURNING count`,
);
const subtractCall = statement<unknown, [webhook: number, startsAtMs: number]>(
  "delivery-rates.subtract",
  "UPDATE delivery_rates SET count = count - 1 WHERE webhook = ? AND starts_at_ms = ?",
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

/** A claim's time, and the longest time until its calls start. */
interface ClaimTime {
  readonly nowMs: number;
  readonly maxHoldMs: number;
}

/** Returns how many calls may be claimed now, so that no span of the window's length has more starts of calls than the limit. */
export function remainingCalls(
  db: StateDatabase,
  webhook: number,
  limit: CallLimit,
  { nowMs, maxHoldMs }: ClaimTime,
): RemainingCalls {
  const { reachMs } = rateWindowOf({ limit, maxHoldMs });
  const { calls, first } = db.get(callsWithin, webhook, nowMs - reachMs) ?? { calls: 0, first: null };
  return { calls: Math.max(limit.calls - (calls ?? 0), 0), nextCallAtMs: (first ?? nowMs) + reachMs };
}

/**
 * Counts calls within the transaction that claims their deliveries.
 *
 * @returns the start of the part that they are counted in.
 */
export function countCalls(
  db: StateDatabase,
  webhook: number,
  limit: CallLimit,
  { nowMs, maxHoldMs }: ClaimTime,
  calls: number,
): number {
  const { partMs, reachMs } = rateWindowOf({ limit, maxHoldMs });
  const startsAtMs = nowMs - (nowMs % partMs);
  const added = db.get(addCalls, webhook, startsAtMs, calls);
  // One deletion for each new part bounds the number of rows.
  if (added?.count === calls) db.run(deleteExpired, webhook, nowMs - reachMs);
  return startsAtMs;
}

/** Undoes the count of a call that did not start; `countedAtMs` is the result of `countCalls`. */
export function uncountCall(db: StateDatabase, webhook: number, countedAtMs: number): void {
  db.run(subtractCall, webhook, countedAtMs);
}
