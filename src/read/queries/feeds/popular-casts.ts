import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { cursorCodec, type Page } from "../../cursor.ts";
import type { CastRef } from "../../hydrate/casts.ts";
import { newestCasts } from "../ordered-page.ts";

/** Maximum number of counts read before the query sorts the author's casts instead. */
const MAX_COUNTS = 2000;

/** Rows read beyond the page, so that usually all casts with its lowest sum are read. */
const SPARE_ROWS = 8;

interface CountedRow extends CastRef {
  readonly sum: number;
  readonly hash: Uint8Array;
}

const top = statement<CountedRow, [fid: number, maxCounts: number, limit: number]>(
  "skeleton.popular-casts.top",
  `SELECT c.id, below.sum, c.hash
   FROM (SELECT id, likes + recasts + replies AS sum FROM cast_counts WHERE fid = ?
         ORDER BY (likes + recasts + replies) DESC LIMIT ?) below
   CROSS JOIN casts c ON c.id = below.id
   LIMIT ?`,
);
// Sorts all casts with the lowest sum of the page, because the index does not contain their hashes.
const counted = statement<CastRef, [fid: number, lowestSum: number, limit: number]>(
  "skeleton.popular-casts.counted",
  `SELECT c.id FROM cast_counts n CROSS JOIN casts c ON c.id = n.id
   WHERE n.fid = ? AND n.likes + n.recasts + n.replies >= ?
   ORDER BY n.likes + n.recasts + n.replies DESC, c.hash DESC LIMIT ?`,
);
const hasMoreCounts = statement<{ one: number }, [fid: number, lowestSum: number, offset: number]>(
  "skeleton.popular-casts.has-more-counts",
  "SELECT 1 AS one FROM cast_counts WHERE fid = ? AND likes + recasts + replies >= ? LIMIT 1 OFFSET ?",
);
const declareUncounted = (isReply: 0 | 1) =>
  `SELECT id FROM casts c
   WHERE c.fid = ?1 AND (c.parent_id IS NOT NULL) = ${isReply} AND c.id < ?2
     AND NOT EXISTS (SELECT 1 FROM cast_counts n WHERE n.id = c.id)`;
const uncounted = statement<CastRef, [fid: number, below: number, limit: number]>(
  "skeleton.popular-casts.uncounted",
  `${declareUncounted(0)} UNION ALL ${declareUncounted(1)} ORDER BY id DESC LIMIT ?3`,
);
const allOfAuthor = statement<CastRef, [fid: number, limit: number]>(
  "skeleton.popular-casts.all-of-author",
  `SELECT c.id FROM casts c LEFT JOIN cast_counts n ON n.id = c.id
   WHERE c.fid = ?
   ORDER BY coalesce(n.likes + n.recasts + n.replies, 0) DESC,
     CASE WHEN n.id IS NULL THEN c.id >> 16 END DESC, c.hash DESC
   LIMIT ?`,
);

/**
 * Returns the live casts of an fid by the sum of likes, recasts and replies, greatest first; equal sums by hash, greatest
 * first. If there are too few, the newest casts without reactions and replies follow.
 *
 * The index also has counts of casts that were deleted or never arrived. Therefore the query reads the counts from the top
 * until it has found enough live casts. Any user can create such counts. If there are thousands, the query sorts the
 * author's casts instead, whose number the author's storage bounds.
 */
export function popularCasts(db: IndexDatabase, query: { fid: number; limit: number }): CastRef[] {
  const { fid, limit } = query;
  const maxRows = limit + SPARE_ROWS;
  const rows = db.all(top, fid, MAX_COUNTS, maxRows);
  const atEnd = rows.length < maxRows;
  const lowest = atEnd ? 0 : (rows[limit - 1]?.sum ?? 0);
  if (atEnd || rows.at(-1)?.sum === lowest) {
    if (db.get(hasMoreCounts, fid, lowest, MAX_COUNTS)) return db.all(allOfAuthor, fid, limit);
    if (!atEnd) return db.all(counted, fid, lowest, limit);
  }
  const found = rows.sort((a, b) => b.sum - a.sum || Buffer.compare(b.hash, a.hash)).slice(0, limit);
  if (found.length === limit) return found;
  const rest = newestCasts(db, { limit: limit - found.length, after: undefined }, (below, maxRows) =>
    db.all(uncounted, fid, below, maxRows),
  );
  return [...found, ...rest.rows];
}

/** Number of casts before a page. It never leaves the process, because clients get only one page. */
export const popularCastsPosition = cursorCodec("feed/user/popular", ["int"]);

/** Returns a part of the list that starts with `popularCasts`. */
export function popularCastsPage(
  db: IndexDatabase,
  query: { fid: number; limit: number; after: readonly [before: number] | undefined },
): Page<CastRef> {
  const { fid, limit, after: [before] = [0] } = query;
  const rows = popularCasts(db, { fid, limit: before + limit + 1 });
  const page = rows.slice(before, before + limit);
  return {
    rows: page,
    cursor: rows.length > before + limit ? popularCastsPosition.encode([before + limit]) : null,
  };
}
