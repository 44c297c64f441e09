import type { IndexDatabase } from "../../../db/index/database.ts";
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

type Params = [fid: number, at: number, otherFid: number, limit: number];

/** The position before the newest possible row. */
const FROM_THE_NEWEST: DatedPosition = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];

// A link can name any fid, so the query skips unregistered targets: only the last page is short. The signer of a message
// is registered, so sources need no such check.
const targets = statement<
  DatedUser,
  [fid: number, type: string, at: number, otherFid: number, limit: number]
>(
  "skeleton.links.targets",
  `SELECT l.target_fid AS fid, l.linked_at AS at FROM links l CROSS JOIN fids f ON f.fid = l.target_fid
   WHERE l.fid = ? AND l.type = ? AND (l.linked_at, l.target_fid) < (?, ?)
   ORDER BY l.linked_at DESC, l.target_fid DESC LIMIT ?`,
);
const followerRows = statement<DatedUser, Params>(
  "skeleton.links.followers",
  `SELECT fid, linked_at AS at FROM links
   WHERE target_fid = ? AND type = 'follow' AND (linked_at, fid) < (?, ?)
   ORDER BY linked_at DESC, fid DESC LIMIT ?`,
);
const blockerRows = statement<DatedUser, Params>(
  "skeleton.links.blockers",
  `SELECT fid, linked_at AS at FROM links
   WHERE target_fid = ? AND type = 'block' AND (linked_at, fid) < (?, ?)
   ORDER BY linked_at DESC, fid DESC LIMIT ?`,
);
const mutualRows = statement<DatedUser, Params>(
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

/** Returns the users that an fid follows, blocks or mutes, newest link first. */
export function linkTargets(
  db: IndexDatabase,
  type: keyof typeof targetCursors,
  { fid, limit, after = FROM_THE_NEWEST }: DatedQuery,
): Page<DatedUser> {
  const rows = db.all(targets, fid, type, ...after, limit + 1);
  return cutPage(rows, limit, (last) => targetCursors[type].encode([last.at, last.fid]));
}

/** Returns the followers of an fid, newest follow first. */
export function followers(
  db: IndexDatabase,
  { fid, limit, after = FROM_THE_NEWEST }: DatedQuery,
): Page<DatedUser> {
  const rows = db.all(followerRows, fid, ...after, limit + 1);
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
  const rows = db.all(blockerRows, fid, ...after, limit + 1);
  return cutPage(rows, limit, (last) => blockersCursor.encode([last.at, last.fid]));
}
