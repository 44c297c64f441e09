import type { IndexDatabase } from "../../../db/index/database.ts";
import { LinkType, storedLinkType } from "../../../db/index/messages/columns.ts";
import { statement } from "../../../db/index/statement.ts";
import { cursorCodec, type Key, pagedList } from "../../cursor.ts";

/** A user of a list, with the time in Unix seconds by which the list is sorted. */
export interface DatedUser {
  readonly fid: number;
  readonly at: number;
}

/** The position before the newest possible row. */
const FROM_THE_NEWEST: Key<["int", "int"]> = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];

type Params = [fid: number, type: number | string, at: number, otherFid: number, limit: number];

/** Merges the links that have a display time with the others, which have a separate index. */
const byTime = (fid: string, otherFid: string, condition = "") => `SELECT fid, at FROM
     (SELECT l.${otherFid} AS fid, l.timestamp AS at FROM links l
      WHERE l.${fid} = ?1 AND l.type = ?2 AND l.displayed_at IS NULL AND (l.timestamp, l.${otherFid}) < (?3, ?4)
      UNION ALL
      SELECT l.${otherFid}, l.displayed_at FROM links l
      WHERE l.${fid} = ?1 AND l.type = ?2 AND l.displayed_at IS NOT NULL AND (l.displayed_at, l.${otherFid}) < (?3, ?4)
      ORDER BY 2 DESC, 1 DESC) below
   ${condition}LIMIT ?5`;

// A link can name any fid, so the query skips unregistered targets; this way, only the last page is short. The signer of a
// message is registered, so sources need no such check.
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

/** Declares a list of users by time. */
const datedList = (
  endpoint: string,
  rows: (db: IndexDatabase, fid: number, after: Key<["int", "int"]>, limit: number) => DatedUser[],
) =>
  pagedList(
    cursorCodec(endpoint, ["int", "int"]),
    (db, { fid }: { readonly fid: number }, { limit, after = FROM_THE_NEWEST }) =>
      rows(db, fid, after, limit),
    ({ at, fid }) => [at, fid],
  );

/** Announces a read of a `byTime` list from a key on. */
function willReadLinks(
  db: IndexDatabase,
  tree: "links_by_source" | "links_by_target",
  key: readonly [fid: number, type: number | string, at: number],
): void {
  db.willRead(() => [tree, `${tree}_displayed`].map((name) => ({ tree: name, keys: [key] })));
}

/** Lists the users that an fid follows, blocks or mutes, newest link first. */
const targetsOf = (endpoint: string, type: "follow" | "block" | "mute") => {
  const stored = storedLinkType(type);
  return datedList(endpoint, (db, fid, after, limit) => {
    willReadLinks(db, "links_by_source", [fid, stored, after[0]]);
    return db.all(targets, fid, stored, ...after, limit);
  });
};
export const follows = targetsOf("user/following", "follow");
export const blocks = targetsOf("block/list", "block");
export const mutes = targetsOf("mute/list", "mute");

/** Lists the users that follow or block an fid, newest link first. */
const sourcesOf = (endpoint: string, type: number) =>
  datedList(endpoint, (db, fid, after, limit) => {
    willReadLinks(db, "links_by_target", [fid, type, after[0]]);
    return db.all(sources, fid, type, ...after, limit);
  });
export const followers = sourcesOf("user/followers", LinkType.Follow);
export const blockers = sourcesOf("blockers", LinkType.Block);

/** Lists the users that follow an fid and are followed by it, sorted by the later of the two follows, newest first. */
export const mutualFollows = datedList("followers/reciprocal", (db, fid, after, limit) =>
  db.all(mutualRows, fid, ...after, limit),
);

/**
 * Returns a query for the newest follows of the fid `?1` as (target_fid, at). It merges the links that have a display time
 * with the others, which have a separate index.
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

/** Returns the fids in `fids` that a user follows, in the same order. */
export function followedAmong(db: IndexDatabase, viewerFid: number, fids: readonly number[]): number[] {
  return db.all(followed, JSON.stringify(fids), viewerFid).map(({ fid }) => fid);
}
