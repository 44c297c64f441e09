import type { StateDatabase } from "../../db/state/database.ts";
import { statement } from "../../db/state/statement.ts";
import type { CallLimit } from "./deliveries.ts";

/** A window is counted in so many parts; a part counts until the last instant of it has left the window. */
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
const forget = statement<unknown, [webhook: number, startsUntilMs: number]>(
  "delivery-rates.forget",
  "DELETE FROM delivery_rates WHERE webhook = ? AND starts_at_ms <= ?",
);

/** What a webhook may still get. */
export interface Allowance {
  readonly calls: number;
  /** When it grows. */
  readonly growsAtMs: number;
}

/**
 * How many calls may begin now, so that no span of the window's length ever sees more than the limit. Parts are
 * counted whole, which makes it stricter than that by at most one part.
 */
export function allowanceOf(
  db: StateDatabase,
  webhook: number,
  { calls: limit, windowMs }: CallLimit,
  nowMs: number,
): Allowance {
  const reach = windowMs + partMs(windowMs);
  const { calls, first } = db.get(callsWithin, webhook, nowMs - reach) ?? { calls: 0, first: null };
  return { calls: Math.max(limit - (calls ?? 0), 0), growsAtMs: (first ?? nowMs) + reach };
}

/** Counts a call that begins now, within the transaction that claims its delivery. */
export function countCall(db: StateDatabase, webhook: number, { windowMs }: CallLimit, nowMs: number): void {
  const part = partMs(windowMs);
  const added = db.get(addCall, webhook, nowMs - (nowMs % part));
  // Parts come and go at the same pace.
  if (added?.count === 1) db.run(forget, webhook, nowMs - windowMs - part);
}

function partMs(windowMs: number): number {
  return Math.max(Math.ceil(windowMs / PARTS), 1);
}
