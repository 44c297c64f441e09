import type { IndexDatabase } from "../database.ts";
import { LinkType } from "../messages/link-type.ts";
import { statement } from "../statement.ts";

const followedAt = statement<{ at: number }, [fid: number, targetFid: number]>(
  "project.mutual-follows.followed-at",
  `SELECT coalesce(displayed_at, timestamp) AS at FROM links
   WHERE fid = ? AND type = ${LinkType.Follow} AND target_fid = ?`,
);
const insertPair = statement<unknown, [fid: number, otherFid: number, since: number]>(
  "project.mutual-follows.insert",
  "INSERT OR IGNORE INTO mutual_follows (fid, other_fid, since) VALUES (?, ?, ?)",
);
const deletePair = statement<unknown, [fid: number, otherFid: number]>(
  "project.mutual-follows.delete",
  "DELETE FROM mutual_follows WHERE fid = ? AND other_fid = ?",
);

/** Records the pair when the reverse follow exists. Its `since` is the later of the two times. */
export function addMutualFollow(db: IndexDatabase, fid: number, targetFid: number, at: number): void {
  const back = db.get(followedAt, targetFid, fid);
  // A user who follows themselves is not a pair.
  if (!back || fid === targetFid) return;
  const since = Math.max(at, back.at);
  db.run(insertPair, fid, targetFid, since);
  db.run(insertPair, targetFid, fid, since);
}

export function dropMutualFollow(db: IndexDatabase, fid: number, targetFid: number): void {
  db.run(deletePair, fid, targetFid);
  db.run(deletePair, targetFid, fid);
}
