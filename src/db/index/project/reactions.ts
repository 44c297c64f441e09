import { toUnixSecs } from "../../../protocol/time.ts";
import {
  type MessageData,
  type ReactionBody,
  ReactionType,
} from "../../../protocol/wire/generated/message.ts";
import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";
import { countOnCast } from "./casts.ts";
import { type Notification, NotificationKind, notify, unnotify } from "./notifications.ts";

const insertReaction = statement<
  unknown,
  [
    fid: number,
    type: number,
    timestamp: number,
    hash: Uint8Array,
    targetFid: number | null,
    targetHash: Uint8Array | null,
    targetUrl: string | null,
  ]
>(
  "project.reactions.insert",
  `INSERT INTO reactions (fid, type, timestamp, hash, target_fid, target_hash, target_url)
   VALUES (?, ?, ?, ?, ?, ?, ?)`,
);
const deleteReaction = statement<unknown, [fid: number, type: number, timestamp: number, hash: Uint8Array]>(
  "project.reactions.delete",
  "DELETE FROM reactions WHERE fid = ? AND type = ? AND timestamp = ? AND hash = ?",
);

export function addReaction(
  db: IndexDatabase,
  data: MessageData,
  body: ReactionBody,
  hash: Uint8Array,
): void {
  const cast = body.target?.$case === "targetCastId" ? body.target.value : undefined;
  const url = body.target?.$case === "targetUrl" ? body.target.value : null;
  const timestamp = toUnixSecs(data.timestamp);
  db.run(insertReaction, data.fid, body.type, timestamp, hash, cast?.fid ?? null, cast?.hash ?? null, url);
  countReaction(db, body, 1);
  const notification = notificationOf(data, body);
  if (notification) notify(db, notification);
}

export function dropReaction(
  db: IndexDatabase,
  data: MessageData,
  body: ReactionBody,
  hash: Uint8Array,
): void {
  db.run(deleteReaction, data.fid, body.type, toUnixSecs(data.timestamp), hash);
  countReaction(db, body, -1);
  const notification = notificationOf(data, body);
  if (notification) unnotify(db, notification);
}

function countReaction(db: IndexDatabase, body: ReactionBody, by: 1 | -1): void {
  if (body.target?.$case !== "targetCastId") return;
  countOnCast(
    db,
    body.target.value,
    body.type === ReactionType.REACTION_TYPE_LIKE ? { likes: by } : { recasts: by },
  );
}

function notificationOf(data: MessageData, body: ReactionBody): Notification | undefined {
  if (body.target?.$case !== "targetCastId") return undefined;
  const { fid, hash } = body.target.value;
  const kind =
    body.type === ReactionType.REACTION_TYPE_LIKE ? NotificationKind.Like : NotificationKind.Recast;
  return { fid, timestamp: toUnixSecs(data.timestamp), kind, actorFid: data.fid, ref: hash };
}
