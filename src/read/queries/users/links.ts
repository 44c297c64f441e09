import type { IndexDatabase } from "../../../db/index/database.ts";
import { LinkType, storedLinkType } from "../../../db/index/messages/columns.ts";
import { statement } from "../../../db/index/statement.ts";
import { cursorCodec, cutPage, type Page } from "../../cursor.ts";

/** A user of a list, and the time in unix seconds by which the list is sorted. */
export interface DatedUser {
  readonly fid: number;
  readonly at: number;
}

/** The sort key of the last row of the previous page. */
export type DatedPosition = readonly [at: number, fid: number];

export interface DatedQuery {
  readonly fid: number;
  readonly limit: number;
  readonly after: DatedPosition | undefined;
}

/** The position before the newest possible row. */
const FROM_THE_NEWEST: DatedPosition = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];

type Params = [fid: number, type: number | string, at: number, otherFid: number, limit: number];

/** Merges the links that have a display time and the others: each of them has an index. */
const byTime = (fid: string, otherFid: string, condition = "") => `SELECT fid, at FROM
     (SELECT l.${otherFid} AS fid, l.timestamp AS at FROM links l
      WHERE l.${fid} = ?1 AND l.type = ?2 AND l.displayed_at IS NULL AND (l.timestamp, l.${otherFid}) < (?3, ?4)
      UNION ALL
      SELECT l.${otherFid}, l.displayed_at FROM links l
      WHERE l.${fid} = ?1 AND l.type = ?2 AND l.displayed_at IS NOT NULL AND (l.displayed_at, l.${otherFid}) < (?3, ?4)
      ORDER BY 2 DESC, 1 DESC) below
   ${condition}LIMIT ?5`;

// A link can name any fid, so the query skips unregistered targets: only the last page is short. The signer of a message
// is registered, so sources need no such check.
const targets = statement<DatedUser, Params>(
  "skeleton.links.targets",
  byTime("fid", "target_fid", "WHERE EXISTS (SELECT 1 FROM fids f WHERE f.fid = below.fid) "),
);
const sources = statement<DatedUser, Params>("skeleton.links.sources", byTime("target_fid", "fid"));
const mutualRows = statement<DatedUser, [fid: number, at: number, otherFid: number, limit: number]>(
  "skeleton.links.mutual-follows",
  `SELECT other_fid AS fid, since AS at FROM mutual_follows WHERE fid = ? AND (since, other_fid) < (?, ?)
   ORDER BY since DESC, other_fid DESC LIMIT ?`,
);

export const targetCursors = {
  follow: cursorCodec("user/following", ["int", "int"]),
  block: cursorCodec("block/list", ["int", "int"]),
  mute: cursorCodec("mute/list", ["int", "int"]),
} as const;
export const blockersCursor = cursorCodec("blockers", ["int", "int"]);
export const followersCursor = cursorCodec("user/followers", ["int", "int"]);
export const mutualFollowsCursor = cursorCodec("followers/reciprocal", ["int", "int"]);

/** Announces a list of `byTime` from a key on. */
function willReadLinks(
  db: IndexDatabase,
  tree: "links_by_source" | "links_by_target",
  key: readonly [fid: number, type: number | string, at: number],
): void {
  db.willRead(() => [tree, `${tree}_displayed`].map((name) => ({ tree: name, keys: [key] })));
}

/** Returns the users that an fid follows, blocks or mutes, newest link first. */
export function linkTargets(
  db: IndexDatabase,
  type: keyof typeof targetCursors,
  { fid, limit, after = FROM_THE_NEWEST }: DatedQuery,
): Page<DatedUser> {
  const stored = storedLinkType(type);
  willReadLinks(db, "links_by_source", [fid, stored, after[0]]);
  const rows = db.all(targets, fid, stored, ...after, limit + 1);
  return cutPage(rows, limit, (last) => targetCursors[type].encode([last.at, last.fid]));
}

/** Returns the followers of an fid, newest follow first. */
export function followers(
  db: IndexDatabase,
  { fid, limit, after = FROM_THE_NEWEST }: DatedQuery,
): Page<DatedUser> {
  willReadLinks(db, "links_by_target", [fid, LinkType.Follow, after[0]]);
  const rows = db.all(sources, fid, LinkType.Follow, ...after, limit + 1);
  return cutPage(rows, limit, (last) => followersCursor.encode([last.at, last.fid]));
}

/** Returns the users that follow an fid and are followed by it, sorted by the later of the two follows, newest first. */
export function mutualFollows(
  db: IndexDatabase,
  { fid, limit, after = FROM_THE_NEWEST }: DatedQuery,
): Page<DatedUser> {
  const rows = db.all(mutualRows, fid, ...after, limit + 1);
  return cutPage(rows, limit, (last) => mutualFollowsCursor.encode([last.at, last.fid]));
}

/** Returns the users that block an fid, newest block first. */
export function blockers(
  db: IndexDatabase,
  { fid, limit, after = FROM_THE_NEWEST }: DatedQuery,
): Page<DatedUser> {
  willReadLinks(db, "links_by_target", [fid, LinkType.Block, after[0]]);
  const rows = db.all(sources, fid, LinkType.Block, ...after, limit + 1);
  return cutPage(rows, limit, (last) => blockersCursor.encode([last.at, last.fid]));
}

/**
 * Returns a query for the newest follows of the fid `?1` as (target_fid, at). It merges the links that have a display time and the
 * others: each of them has an index.
 */
export const newestFollowsSql = (limit: number) =>
  `SELECT target_fid, timestamp AS at FROM links
      WHERE fid = ?1 AND type = ${LinkType.Follow} AND displayed_at IS NULL
      UNION ALL
      SELECT target_fid, displayed_at FROM links
      WHERE fid = ?1 AND type = ${LinkType.Follow} AND displayed_at IS NOT NULL
      ORDER BY 2 DESC, 1 DESC LIMIT ${limit}`;

const followed = statement<{ fid: number }, [fidsJson: string, viewerFid: number]>(
  "skeleton.followed-among",
  `SELECT j.value AS fid FROM json_each(?1) j
   WHERE EXISTS (SELECT 1 FROM links l WHERE l.fid = ?2 AND l.type = 1 AND l.target_fid = j.value) ORDER BY j.key`,
);

/** Returns those of `fids` that a user follows, in their order. */
export function followedAmong(db: IndexDatabase, viewerFid: number, fids: readonly number[]): number[] {
  return db.all(followed, JSON.stringify(fids), viewerFid).map(({ fid }) => fid);
}
