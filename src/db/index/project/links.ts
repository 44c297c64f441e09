import { toUnixSecs } from "../../../protocol/time.ts";
import type { LinkBody, MessageData } from "../../../protocol/wire/generated/message.ts";
import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";
import { addMutualFollow, dropMutualFollow } from "./mutual-follows.ts";
import { type Notification, NotificationKind, notify, unnotify } from "./notifications.ts";

/** The link type of follows. */
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
  const linkedAt = linkedAtOf(data, body);
  db.run(insertLink, data.fid, body.type, targetFid, linkedAt);
  if (body.type !== FOLLOW) return;
  count(db, data.fid, targetFid, 1);
  addMutualFollow(db, data.fid, targetFid, linkedAt);
  notify(db, notificationOf(data, targetFid, linkedAt));
}

export function dropLink(db: IndexDatabase, data: MessageData, body: LinkBody): void {
  const targetFid = body.target?.value ?? 0;
  db.run(deleteLink, data.fid, body.type, targetFid);
  if (body.type !== FOLLOW) return;
  count(db, data.fid, targetFid, -1);
  db.run(dropEmptyCounts, data.fid);
  db.run(dropEmptyCounts, targetFid);
  dropMutualFollow(db, data.fid, targetFid);
  unnotify(db, notificationOf(data, targetFid, linkedAtOf(data, body)));
}

function count(db: IndexDatabase, fid: number, targetFid: number, by: 1 | -1): void {
  db.run(addCounts, fid, 0, by);
  db.run(addCounts, targetFid, by, 0);
  db.invalidations.user(fid);
  db.invalidations.user(targetFid);
}

/** The time of a link in unix seconds: the display timestamp if the message has one, else its own. */
export function linkedAtOf(data: MessageData, body: LinkBody): number {
  return toUnixSecs(body.displayTimestamp ?? data.timestamp);
}

function notificationOf(data: MessageData, fid: number, timestamp: number): Notification {
  return { fid, timestamp, kind: NotificationKind.Follow, actorFid: data.fid, ref: NO_CAST };
}

const NO_CAST = new Uint8Array();
