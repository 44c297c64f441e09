import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";

const followed = statement<{ fid: number }, [fidsJson: string, viewerFid: number]>(
  "skeleton.followed-among",
  `SELECT j.value AS fid FROM json_each(?1) j
   WHERE EXISTS (SELECT 1 FROM links l WHERE l.fid = ?2 AND l.type = 1 AND l.target_fid = j.value) ORDER BY j.key`,
);

/** Returns those of `fids` that a user follows, in their order. */
export function followedAmong(db: IndexDatabase, viewerFid: number, fids: readonly number[]): number[] {
  return db.all(followed, JSON.stringify(fids), viewerFid).map(({ fid }) => fid);
}
