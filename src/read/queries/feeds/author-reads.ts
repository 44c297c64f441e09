import type { IndexDatabase } from "../../../db/index/database.ts";
import { LinkType } from "../../../db/index/messages/columns.ts";
import { statement } from "../../../db/index/statement.ts";
import { ReactionType } from "../../../protocol/wire/generated/message.ts";
import type { CastRef } from "../../hydrate/casts.ts";
import type { ReactionKey } from "../casts/reactions.ts";
import { isLiveCast, mergeNewest, mergeNewestCasts } from "../ordered-page.ts";

/** The type of the reactions in these feeds. */
export const RECAST = ReactionType.REACTION_TYPE_RECAST;

export interface RecastRow {
  fid: number;
  timestamp: number;
  targetFid: number;
  targetId: number;
  isLive: number;
}

/** Maximum number of authors whose rows are read ahead. */
const MAX_ANNOUNCED = 1000;

/** Maximum number of a cast's later recasts that are searched for one by an author of the feed. */
const MAX_RECASTS = 1000;

/**
 * Declares the statements of the feeds for one kind of author list. Their first parameter is the value of `?1`.
 *
 * @param from the tables and the condition that list the authors.
 * @param fid the SQL expression of an author's fid in these tables.
 * @param isAuthor returns the condition that an fid is an author.
 */
function declareStatements<Param extends string | number>(
  name: string,
  { from, fid, isAuthor }: { from: string; fid: string; isAuthor: (fid: string) => string },
) {
  // The index has the casts of an author in two ranges: those with a parent cast, and all others.
  const ownCasts = (stream: string, isReply: 0 | 1) =>
    statement<CastRef, [authors: Param, below: number, limit: number]>(
      `skeleton.${name}.${stream}`,
      mergeNewestCasts({
        sources: { key: [fid], from },
        rowsOf: (author) => `casts WHERE fid = ${author} AND (parent_id IS NOT NULL) = ${isReply}`,
        below: "?2",
        limit: "?3",
      }),
    );
  return {
    roots: ownCasts("roots", 0),
    replies: ownCasts("replies", 1),
    recasts: statement<RecastRow, [authors: Param, before: number, limit: number]>(
      `skeleton.${name}.recasts`,
      `${mergeNewest({
        sources: { id: fid, from },
        rowsOf: (author) => `reactions WHERE fid = ${author} AND type = ${RECAST}`,
        key: [
          { name: "timestamp", kind: "int" },
          { name: "targetFid", sql: "target_fid", kind: "int" },
          { name: "targetId", sql: "target_id", kind: "int" },
        ],
        below: "?2, -1, 0",
        limit: "?3",
      })}
       SELECT below.source AS fid, below.timestamp, below.targetFid, below.targetId, ${isLiveCast("below.targetId")} AS isLive
       FROM merged below`,
    ),
    recastsSince: statement<RecastRow, [authors: Param, before: number, limit: number, since: number]>(
      `skeleton.${name}.recasts-since`,
      `SELECT r.fid, r.timestamp, r.target_fid AS targetFid, r.target_id AS targetId, ${isLiveCast("r.target_id")} AS isLive
       FROM (SELECT ${fid} AS fid FROM ${from}) below
       CROSS JOIN reactions r ON r.fid = below.fid AND r.type = ${RECAST} AND r.timestamp >= ?4 AND r.timestamp < ?2
       LIMIT ?3`,
    ),
    // Acts whose cast an author of the feed recasted in a later second, or another author in the same second, in which case
    // the hashes decide.
    recastedSince: statement<{ at: number }, [authors: Param, actsJson: string]>(
      `skeleton.${name}.recasted-since`,
      `SELECT j.key AS at FROM json_each(?2) j
       WHERE EXISTS (SELECT 1 FROM
         (SELECT r.fid, r.timestamp FROM reactions r
          WHERE r.target_id = j.value ->> 0 AND r.type = ${RECAST} AND r.timestamp >= j.value ->> 1
          LIMIT ${MAX_RECASTS}) below
         WHERE ${isAuthor("below.fid")}
           AND (below.fid != j.value ->> 2 OR below.timestamp > j.value ->> 1))`,
    ),
    recastedLater: statement<{ at: number }, [authors: Param, actsJson: string]>(
      `skeleton.${name}.recasted-later`,
      `SELECT j.key AS at FROM json_each(?2) j
       WHERE EXISTS (SELECT 1 FROM
         (SELECT r.fid FROM reactions r
          WHERE r.target_id = j.value ->> 0 AND r.type = ${RECAST} AND r.timestamp > j.value ->> 1
          LIMIT ${MAX_RECASTS}) below
         WHERE ${isAuthor("below.fid")})`,
    ),
    recastedInSameSecond: statement<ReactionKey & { at: number }, [authors: Param, actsJson: string]>(
      `skeleton.${name}.recasted-in-same-second`,
      `SELECT j.key AS at, r.fid, r.target_fid AS targetFid, r.target_id AS targetId, r.type
       FROM json_each(?2) j CROSS JOIN reactions r ON r.target_id = j.value ->> 0 AND r.type = ${RECAST}
         AND r.timestamp = j.value ->> 1 AND r.fid != j.value ->> 2
       WHERE ${isAuthor("r.fid")}`,
    ),
  };
}

const ofFids = declareStatements<string>("authors-feed", {
  from: "json_each(?1) j",
  fid: "j.value",
  isAuthor: (fid) => `${fid} IN (SELECT value FROM json_each(?1))`,
});
const ofFollows = declareStatements<number>("followed-roots", {
  from: `links l WHERE l.fid = ?1 AND l.type = ${LinkType.Follow}`,
  fid: "l.target_fid",
  isAuthor: (fid) =>
    `EXISTS (SELECT 1 FROM links l WHERE l.fid = ?1 AND l.type = ${LinkType.Follow} AND l.target_fid = ${fid})`,
});

type ScanParams = [below: number, maxScanned: number, fid: number, limit: number];
// The subquery is streamed, so the scan ends with the last row of the page.
const declareScan = (name: string, condition: string) =>
  statement<CastRef, ScanParams>(
    `skeleton.following-feed.${name}`,
    `SELECT below.id
   FROM (SELECT id, fid, parent_id FROM casts WHERE id < ? ORDER BY id DESC LIMIT ?) below
   CROSS JOIN links l ON l.fid = ? AND l.type = ${LinkType.Follow} AND l.target_fid = below.fid${condition}
   LIMIT ?`,
  );

/** Select the casts of authors that an fid follows, newest first, out of the `maxScanned` newest casts of all authors. */
export const followedScans = {
  all: declareScan("scan", ""),
  roots: declareScan("scan-roots", " AND below.parent_id IS NULL"),
};

/**
 * The authors of a feed: a list of fids, or the accounts that an fid follows. `maxScanned` is the number of casts by all
 * authors that are read before the casts of each author are merged instead.
 */
export type Authors =
  | { readonly fids: readonly number[] }
  | { readonly followedBy: number; readonly maxScanned: number };

/** The statements of a feed with their first parameter. */
export interface AuthorReads {
  readonly casts: (stream: "roots" | "replies", below: number, max: number) => CastRef[];
  readonly recasts: (before: number, max: number) => RecastRow[];
  readonly recastsSince: (since: number, before: number, max: number) => RecastRow[];
  readonly recastedSince: (actsJson: string) => { at: number }[];
  readonly recastedLater: (actsJson: string) => { at: number }[];
  readonly recastedInSameSecond: (actsJson: string) => (ReactionKey & { at: number })[];
}

/** Returns the reads of the acts of `authors`. */
export function readsOf(db: IndexDatabase, authors: Authors): AuthorReads {
  if ("fids" in authors) return boundReads(db, ofFids, JSON.stringify(authors.fids));
  const { followedBy, maxScanned } = authors;
  const merged = boundReads(db, ofFollows, followedBy);
  if (maxScanned === 0) return merged;
  return {
    ...merged,
    casts(stream, below, max) {
      const found = stream === "roots" ? db.all(followedScans.roots, below, maxScanned, followedBy, max) : [];
      return found.length === max ? found : merged.casts(stream, below, max);
    },
  };
}

const followedBy = statement<{ fid: number }, [fid: number]>(
  "skeleton.authors.followed-by",
  `SELECT target_fid AS fid FROM links WHERE fid = ? AND type = ${LinkType.Follow} LIMIT ${MAX_ANNOUNCED}`,
);

/**
 * Announces that the index entry at a key of each author will be read.
 *
 * @param authors a JSON array of fids, or the fid that follows them.
 */
export function willReadOfEach(
  db: IndexDatabase,
  authors: string | number,
  tree: "casts_by_author" | "reactions_by_user",
  ...keys: readonly (readonly [kind: number, at: number])[]
): void {
  if (typeof authors === "number") db.willRead(() => [{ tree: "links", keys: [[authors, LinkType.Follow]] }]);
  db.willRead(() => {
    const fids: number[] =
      typeof authors === "string" ? JSON.parse(authors) : db.all(followedBy, authors).map(({ fid }) => fid);
    return [{ tree, keys: fids.flatMap((fid) => keys.map((key) => [fid, ...key])) }];
  });
}

function boundReads<Param extends string | number>(
  db: IndexDatabase,
  of: ReturnType<typeof declareStatements<Param>>,
  authors: Param,
): AuthorReads {
  return {
    casts(stream, below, max) {
      willReadOfEach(db, authors, "casts_by_author", [stream === "replies" ? 1 : 0, below]);
      return db.all(of[stream], authors, below, max);
    },
    recasts: (before, max) => db.all(of.recasts, authors, before, max),
    recastsSince(since, before, max) {
      willReadOfEach(db, authors, "reactions_by_user", [RECAST, since]);
      return db.all(of.recastsSince, authors, before, max, since);
    },
    recastedSince: (actsJson) => db.all(of.recastedSince, authors, actsJson),
    recastedLater: (actsJson) => db.all(of.recastedLater, authors, actsJson),
    recastedInSameSecond: (actsJson) => db.all(of.recastedInSameSecond, authors, actsJson),
  };
}
