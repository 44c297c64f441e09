import { toUnixSecs } from "../../protocol/time.ts";
import type { LinkBody, MessageData } from "../../protocol/wire/generated/message.ts";
import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";

/** The link type that the follow counts, feeds and lists are about. */
export const FOLLOW = "follow";

const insertLink = statement<unknown, [fid: number, type: string, targetFid: number, linkedAt: number]>(
  "project.links.insert",
  "INSERT INTO links (fid, type, target_fid, linked_at) VALUES (?, ?, ?, ?)",
);
const deleteLink = statement<unknown, [fid: number, type: string, targetFid: number]>(
  "project.links.delete",
  "DELETE FROM links WHERE fid = ? AND type = ? AND target_fid = ?",
);
const addCounts = statement<unknown, [fid: number, followers: number, following: number]>(
  "project.follow-counts.add",
  `INSERT INTO follow_counts (fid, followers, following) VALUES (?1, ?2, ?3)
   ON CONFLICT (fid) DO UPDATE SET followers = followers + ?2, following = following + ?3`,
);
const dropEmptyCounts = statement<unknown, [fid: number]>(
  "project.follow-counts.drop-empty",
  "DELETE FROM follow_counts WHERE fid = ? AND followers = 0 AND following = 0",
);

export function addLink(db: IndexDatabase, data: MessageData, body: LinkBody): void {
  const targetFid = body.target?.value ?? 0;
  db.run(insertLink, data.fid, body.type, targetFid, toUnixSecs(body.displayTimestamp ?? data.timestamp));
  countFollow(db, body.type, data.fid, targetFid, 1);
}

export function dropLink(db: IndexDatabase, data: MessageData, body: LinkBody): void {
  const targetFid = body.target?.value ?? 0;
  db.run(deleteLink, data.fid, body.type, targetFid);
  countFollow(db, body.type, data.fid, targetFid, -1);
}

function countFollow(db: IndexDatabase, type: string, fid: number, targetFid: number, by: 1 | -1): void {
  if (type !== FOLLOW) return;
  db.run(addCounts, fid, 0, by);
  db.run(addCounts, targetFid, by, 0);
  if (by < 0) {
    db.run(dropEmptyCounts, fid);
    db.run(dropEmptyCounts, targetFid);
  }
}
