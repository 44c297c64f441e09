import type { IndexDatabase } from "../../../db/index/database.ts";
import { LinkType } from "../../../db/index/messages/columns.ts";
import { statement } from "../../../db/index/statement.ts";
import { cursorCodec, pagedList } from "../../cursor.ts";
import { newestFollowsSql } from "./links.ts";

/** Maximum number of the fid's follows whose own follows are counted, newest first. */
export const MAX_SOURCES = 1000;
/** Maximum number of follows counted by one request, which takes some milliseconds. */
export const MAX_LINKS = 10_000;

interface Candidate {
  readonly fid: number;
  /** Number of the fid's follows that follow the candidate. */
  readonly overlap: number;
  readonly followers: number;
}

/** A user that the fid follows. */
interface Follow {
  readonly fid: number;
  /** Number of users that it follows. */
  readonly following: number;
}

const sourceRows = statement<Follow, [fid: number]>(
  "skeleton.suggested-follows.sources",
  `SELECT target_fid AS fid, n.following FROM
     (${newestFollowsSql(MAX_SOURCES)}) below
   CROSS JOIN follow_counts n ON n.fid = target_fid
   ORDER BY n.following, at DESC, target_fid DESC`,
);
// Returns all fids as one text, because separate rows take 50 % longer.
const followedBy = statement<{ fids: string }, [sourcesJson: string]>(
  "skeleton.suggested-follows.followed-by",
  `SELECT json_group_array(l.target_fid) AS fids
   FROM json_each(?) j CROSS JOIN links l ON l.fid = j.value AND l.type = ${LinkType.Follow}`,
);
const ranked = statement<
  Candidate,
  [countedJson: string, fid: number, overlap: number, followers: number, afterFid: number, limit: number]
>(
  "skeleton.suggested-follows.ranked",
  `SELECT f.fid, j.value ->> 1 AS overlap, n.followers
   FROM json_each(?1) j
   CROSS JOIN fids f ON f.fid = j.value ->> 0
   CROSS JOIN follow_counts n ON n.fid = f.fid
   WHERE f.fid != ?2 AND (-(j.value ->> 1), -n.followers, f.fid) > (-?3, -?4, ?5)
     AND NOT EXISTS (SELECT 1 FROM links own
       WHERE own.fid = ?2 AND own.type IN (${LinkType.Follow}, ${LinkType.Block}, 'mute')
         AND own.target_fid = j.value ->> 0)
   ORDER BY overlap DESC, n.followers DESC, f.fid LIMIT ?6`,
);
/** Size of the first portion of candidates. Most pages need no more, unless the fid already follows most of them. */
const FIRST_RANKED = 64;
const RANKED_GROWTH = 8;

/**
 * Lists friends of friends: the users that most of the fid's follows follow. Ties are broken by followers, then by lower
 * fid. The fid itself and users that it follows, blocks or mutes are excluded.
 */
export const suggestedFollows = pagedList(
  cursorCodec("following/suggested", ["int", "int", "int"]),
  (db, { fid }: { readonly fid: number }, { limit, after = [Number.MAX_SAFE_INTEGER, 0, 0] }) => {
    const rows: Candidate[] = [];
    const follows = db.all(sourceRows, fid);
    const overlaps = overlapsOf(db, sourcesOf(follows));
    // Removes followed users early, because most candidates that many follows follow are followed already.
    for (const followed of follows) overlaps.delete(followed.fid);
    for (const counted of mostFollowedFirst(overlaps, after[0])) {
      rows.push(...db.all(ranked, JSON.stringify(counted), fid, ...after, limit - rows.length));
      if (rows.length >= limit) break;
    }
    return rows;
  },
  ({ overlap, followers, fid }) => [overlap, followers, fid],
);

/** Returns the users that the sources follow, with the number of sources that follow each. */
function overlapsOf(db: IndexDatabase, sources: readonly number[]): Map<number, number> {
  const fids: number[] = JSON.parse(db.get(followedBy, JSON.stringify(sources))?.fids ?? "[]");
  const overlaps = new Map<number, number>();
  for (const fid of fids) overlaps.set(fid, (overlaps.get(fid) ?? 0) + 1);
  return overlaps;
}

/** Yields users with their overlaps in growing portions. Each portion has smaller overlaps than the previous one. */
function* mostFollowedFirst(
  overlaps: ReadonlyMap<number, number>,
  maxOverlap: number,
): Iterable<[fid: number, overlap: number][]> {
  const byOverlap: number[][] = [];
  for (const [fid, overlap] of overlaps) {
    byOverlap[overlap] ??= [];
    byOverlap[overlap].push(fid);
  }
  let portion: [fid: number, overlap: number][] = [];
  let size = FIRST_RANKED;
  for (let overlap = Math.min(maxOverlap, byOverlap.length - 1); overlap > 0; overlap--) {
    for (const fid of byOverlap[overlap] ?? []) portion.push([fid, overlap]);
    if (portion.length < size && overlap > 1) continue;
    yield portion;
    portion = [];
    size *= RANKED_GROWTH;
  }
}

/**
 * Returns the follows of an fid whose own follows are counted: as many as one request can handle, starting with those who
 * follow the fewest users, because their selection is the most significant.
 */
function sourcesOf(follows: readonly Follow[]): number[] {
  let links = 0;
  const end = follows.findIndex(({ following }) => {
    links += following;
    return links > MAX_LINKS;
  });
  return (end < 0 ? follows : follows.slice(0, end)).map(({ fid }) => fid);
}
