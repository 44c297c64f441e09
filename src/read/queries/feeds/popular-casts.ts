import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { type Hash, hex } from "../../hydrate/casts.ts";

type HashRow = { hash: Uint8Array };

/** Counts that are looked at before the author's casts are. */
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
 * The live casts of an fid with the most likes, recasts and replies together, the greater hash first where the sums are
 * equal; then, where there are too few, the newest of those without any.
 *
 * Counts are kept for casts that are gone or never came, too, so they are walked from the top until enough live casts
 * are found. Anybody can make such counts; where there are thousands, the author's casts are sorted instead, whose
 * number the author's storage bounds.
 */
export function popularCasts(db: IndexDatabase, query: { fid: number; limit: number }): Hash[] {
  const { fid, limit } = query;
  const found = db.all(counted, fid, MAX_COUNTS, limit);
  if (found.length < limit && db.get(hasMoreCounts, fid, MAX_COUNTS))
    return db.all(allOfAuthor, fid, limit).map(({ hash }) => hex(hash));
  if (found.length < limit) found.push(...db.all(uncounted, fid, limit - found.length));
  return found.map(({ hash }) => hex(hash));
}
