import type { IndexDatabase } from "../../index/database.ts";
import { statement } from "../../index/statement.ts";
import { cursorCodec, cutPage, type Page } from "../cursor.ts";

/** The newest follows of the fid that are asked whom they follow. */
export const MAX_SOURCES = 1000;
/** All follows of these together: what one request may read, some tens of milliseconds. */
const MAX_LINKS = 100_000;
/** Who follows more than this follows everybody, and says nothing about taste. */
export const MAX_FOLLOWING_OF_SOURCE = 10_000;

interface Candidate {
  readonly fid: number;
  /** How many of the fid's follows follow the candidate. */
  readonly overlap: number;
  readonly followers: number;
}

const sourceRows = statement<{ fid: number; following: number }, [fid: number]>(
  "skeleton.suggested-follows.sources",
  `SELECT target_fid AS fid, n.following FROM
     (SELECT target_fid FROM links WHERE fid = ? AND type = 'follow'
      ORDER BY linked_at DESC, target_fid DESC LIMIT ${MAX_SOURCES})
   CROSS JOIN follow_counts n ON n.fid = target_fid`,
);
// The counted set is bounded by MAX_LINKS, so grouping and sorting it is.
const candidateRows = statement<
  Candidate,
  [sourcesJson: string, fid: number, overlap: number, followers: number, fid: number, limit: number]
>(
  "skeleton.suggested-follows.candidates",
  `SELECT candidate AS fid, overlap, n.followers FROM
     (SELECT l.target_fid AS candidate, count(*) AS overlap
      FROM json_each(?1) j CROSS JOIN links l ON l.fid = j.value AND l.type = 'follow'
      GROUP BY l.target_fid HAVING count(*) <= ?3)
   CROSS JOIN fids f ON f.fid = candidate
   CROSS JOIN follow_counts n ON n.fid = candidate
   WHERE candidate != ?2 AND (-overlap, -n.followers, candidate) > (-?3, -?4, ?5)
     AND NOT EXISTS (SELECT 1 FROM links own
       WHERE own.fid = ?2 AND own.type IN ('follow', 'block', 'mute') AND own.target_fid = candidate)
   ORDER BY overlap DESC, n.followers DESC, candidate LIMIT ?6`,
);

export const suggestedFollowsCursor = cursorCodec("following/suggested", ["int", "int", "int"]);

/**
 * Friends of friends: whom most of the fid's follows follow, of equals who has more followers, then the lower fid.
 * Never the fid itself nor anybody that it follows, blocks or mutes.
 */
export function suggestedFollows(
  db: IndexDatabase,
  query: {
    fid: number;
    limit: number;
    after: readonly [overlap: number, followers: number, fid: number] | undefined;
  },
): Page<Candidate> {
  const { fid, limit, after = [Number.MAX_SAFE_INTEGER, 0, 0] } = query;
  const rows = db.all(candidateRows, JSON.stringify(sourcesOf(db, fid)), fid, ...after, limit + 1);
  return cutPage(rows, limit, (last) =>
    suggestedFollowsCursor.encode([last.overlap, last.followers, last.fid]),
  );
}

/** The newest follows of an fid whose own follows one request can count. */
function sourcesOf(db: IndexDatabase, fid: number): number[] {
  const sources: number[] = [];
  let links = 0;
  for (const source of db.all(sourceRows, fid)) {
    if (source.following > MAX_FOLLOWING_OF_SOURCE) continue;
    links += source.following;
    if (links > MAX_LINKS) break;
    sources.push(source.fid);
  }
  return sources;
}
