import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";

/** What happened to somebody. The numbers stand in the database. */
export enum NotificationKind {
  Mention = 1,
  Reply = 2,
  Like = 3,
  Recast = 4,
  Follow = 5,
}

/** One act of `actorFid` that `fid` is told of. `timestamp`: unix seconds; `ref`: a cast hash, empty for a follow. */
export interface Notification {
  readonly fid: number;
  readonly timestamp: number;
  readonly kind: NotificationKind;
  readonly actorFid: number;
  readonly ref: Uint8Array;
}

type Row = [fid: number, timestamp: number, kind: number, actorFid: number, ref: Uint8Array];

const insertNotification = statement<unknown, Row>(
  "project.notifications.insert",
  "INSERT INTO notifications (fid, timestamp, kind, actor_fid, ref) VALUES (?, ?, ?, ?, ?)",
);
const deleteNotification = statement<unknown, Row>(
  "project.notifications.delete",
  "DELETE FROM notifications WHERE fid = ? AND timestamp = ? AND kind = ? AND actor_fid = ? AND ref = ?",
);

/** Tells `fid` of the act; nobody is told of his own. */
export function notify(db: IndexDatabase, { fid, timestamp, kind, actorFid, ref }: Notification): void {
  if (fid !== actorFid) db.run(insertNotification, fid, timestamp, kind, actorFid, ref);
}

/** Takes the act back. */
export function unnotify(db: IndexDatabase, { fid, timestamp, kind, actorFid, ref }: Notification): void {
  if (fid !== actorFid) db.run(deleteNotification, fid, timestamp, kind, actorFid, ref);
}
