import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { type Hash, hex } from "../../hydrate/casts.ts";

type HashRow = { hash: Uint8Array };

/** The most counts that are read before the query sorts the author's casts instead. */
const MAX_COUNTS = 2000;

const counted = statement<HashRow, [fid: number, maxCounts: number, limit: number]>(
  "skeleton.popular-casts.counted",
  `SELECT c.hash
   FROM (SELECT hash, fid FROM cast_counts WHERE fid = ?
         ORDER BY (likes + recasts + replies) DESC, hash DESC LIMIT ?) below
   CROSS JOIN casts c ON c.hash = below.hash AND c.fid = below.fid
   LIMIT ?`,
);
const hasMoreCounts = statement<{ one: number }, [fid: number, offset: number]>(
  "skeleton.popular-casts.has-more-counts",
  "SELECT 1 AS one FROM cast_counts WHERE fid = ? LIMIT 1 OFFSET ?",
);
const uncounted = statement<HashRow, [fid: number, limit: number]>(
  "skeleton.popular-casts.uncounted",
  `SELECT c.hash FROM casts c
   WHERE c.fid = ? AND NOT EXISTS (SELECT 1 FROM cast_counts n WHERE n.hash = c.hash AND n.fid = c.fid)
   ORDER BY c.timestamp DESC, c.hash DESC LIMIT ?`,
);
const allOfAuthor = statement<HashRow, [fid: number, limit: number]>(
  "skeleton.popular-casts.all-of-author",
  `SELECT c.hash FROM casts c LEFT JOIN cast_counts n ON n.hash = c.hash AND n.fid = c.fid
   WHERE c.fid = ?
   ORDER BY coalesce(n.likes + n.recasts + n.replies, 0) DESC,
     CASE WHEN n.hash IS NULL THEN c.timestamp END DESC, c.hash DESC
   LIMIT ?`,
);

/**
 * Returns the live casts of an fid by the sum of likes, recasts and replies, greatest first; equal sums by hash, greatest
 * first. If these are too few, the newest casts without reactions and replies follow.
 *
 * The index also has counts of casts that were deleted or never arrived. The query therefore reads the counts from the
 * top until it has found enough live casts. Any user can create such counts. When there are thousands, the query sorts
 * the author's casts instead, whose number the author's storage bounds.
 */
export function popularCasts(db: IndexDatabase, query: { fid: number; limit: number }): Hash[] {
  const { fid, limit } = query;
  const found = db.all(counted, fid, MAX_COUNTS, limit);
  if (found.length < limit && db.get(hasMoreCounts, fid, MAX_COUNTS))
    return db.all(allOfAuthor, fid, limit).map(({ hash }) => hex(hash));
  if (found.length < limit) found.push(...db.all(uncounted, fid, limit - found.length));
  return found.map(({ hash }) => hex(hash));
}
