import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import type { Page } from "../../cursor.ts";
import { type CastRef, castByHash } from "../../hydrate/cast-ids.ts";
import type { Hash } from "../../hydrate/casts.ts";
import { timedCursor } from "../feeds/time-order.ts";
import { castPage, type TimedKey } from "../ordered-page.ts";

// The id is that of a live cast by its author: a quote with another author's fid names another id.
const quotesOf = statement<CastRef, [quotedId: number, below: number, limit: number]>(
  "skeleton.cast-quotes",
  "SELECT cast_id AS id FROM cast_quotes WHERE quoted_id = ? AND cast_id < ? ORDER BY cast_id DESC LIMIT ?",
);

export const castQuotesCursor = timedCursor("cast/quotes");

/** Returns the live casts that quote a live cast, newest first; none for a cast that does not exist. */
export function castQuotes(
  db: IndexDatabase,
  { hash, ...page }: { hash: Hash; limit: number; after: TimedKey | undefined },
): Page<CastRef> {
  const quoted = castByHash(db, hash);
  if (!quoted) return { rows: [], cursor: null };
  return castPage(db, { ...page, cursor: castQuotesCursor }, (below, maxRows) =>
    db.all(quotesOf, quoted.id, below, maxRows),
  );
}
