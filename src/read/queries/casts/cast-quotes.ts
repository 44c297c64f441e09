import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import type { Page } from "../../cursor.ts";
import type { Hash } from "../../hydrate/casts.ts";
import { type TimedKey, type TimedRow, timedCursor, timedPage, upperBound } from "../feeds/time-order.ts";

const quotesOf = statement<
  TimedRow,
  [hash: Uint8Array, belowTimestamp: number, belowHash: Uint8Array, limit: number]
>(
  "skeleton.cast-quotes",
  // The author comes from the cast: a quote with another author's fid does not count.
  `SELECT q.timestamp, q.hash FROM casts c
   CROSS JOIN cast_quotes q ON q.quoted_hash = c.hash AND q.quoted_fid = c.fid
   WHERE c.hash = ? AND (q.timestamp, q.hash) < (?, ?)
   ORDER BY q.timestamp DESC, q.hash DESC LIMIT ?`,
);

export const castQuotesCursor = timedCursor("cast/quotes");

/** Returns the live casts that quote a live cast, newest first; none for a cast that does not exist. */
export function castQuotes(
  db: IndexDatabase,
  query: { hash: Hash; limit: number; after: TimedKey | undefined },
): Page<{ hash: Hash }> {
  const { hash, limit, after } = query;
  const quoted = Buffer.from(hash.slice(2), "hex");
  return timedPage(db.all(quotesOf, quoted, ...upperBound(after), limit + 1), limit, castQuotesCursor);
}
