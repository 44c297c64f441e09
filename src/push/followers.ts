import type { IndexDatabase } from "../db/index/database.ts";
import { LinkType } from "../db/index/messages/link-type.ts";
import { statement } from "../db/index/statement.ts";

const followersAmong = statement<{ fid: number }, [fids: string, targetFid: number]>(
  "notify.followers-among",
  `SELECT l.fid FROM json_each(?1) AS j CROSS JOIN links l
   ON l.fid = j.value AND l.type = ${LinkType.Follow} AND l.target_fid = ?2`,
);

/** Returns those of `fids` that currently follow `targetFid`. */
export type FollowersAmong = (fids: readonly number[], targetFid: number) => ReadonlySet<number>;

export function followersFromIndex(db: IndexDatabase): FollowersAmong {
  return (fids, targetFid) =>
    new Set(db.all(followersAmong, JSON.stringify(fids), targetFid).map(({ fid }) => fid));
}
