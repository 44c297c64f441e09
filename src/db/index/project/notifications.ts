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

/** What in a cast tells somebody of it. `mentioned`: fids. */
export interface TellingCast {
  readonly fid: number;
  readonly timestamp: number;
  readonly hash: Uint8Array;
  readonly mentioned: Iterable<number>;
  readonly parentFid: number | null;
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

const insertInThread = statement<unknown, [...Row, rootParentUrl: string]>(
  "project.thread-notifications.insert",
  `INSERT INTO thread_notifications (fid, timestamp, kind, actor_fid, ref, root_parent_url)
   VALUES (?, ?, ?, ?, ?, ?)`,
);
const deleteInThread = statement<unknown, [...Row, rootParentUrl: string]>(
  "project.thread-notifications.delete",
  `DELETE FROM thread_notifications
   WHERE fid = ? AND timestamp = ? AND kind = ? AND actor_fid = ? AND ref = ? AND root_parent_url = ?`,
);

/** What a cast tells, one for each person: a reply that also mentions the one it answers is a reply. */
export function notificationsOfCast(cast: TellingCast): Notification[] {
  const { fid: actorFid, timestamp, hash: ref } = cast;
  const kinds = new Map<number, NotificationKind>();
  for (const fid of cast.mentioned) kinds.set(fid, NotificationKind.Mention);
  if (cast.parentFid !== null) kinds.set(cast.parentFid, NotificationKind.Reply);
  return [...kinds].map(([fid, kind]) => ({ fid, timestamp, kind, actorFid, ref }));
}

/** Puts what a cast tells into the list of its thread, whose root stands under the URL. */
export function addToThread(db: IndexDatabase, url: string | null, cast: TellingCast): void {
  if (url === null) return;
  for (const { fid, timestamp, kind, actorFid, ref } of notificationsOfCast(cast))
    if (fid !== actorFid) db.run(insertInThread, fid, timestamp, kind, actorFid, ref, url);
}

/** The reverse of `addToThread`. */
export function dropFromThread(db: IndexDatabase, url: string | null, cast: TellingCast): void {
  if (url === null) return;
  for (const { fid, timestamp, kind, actorFid, ref } of notificationsOfCast(cast))
    if (fid !== actorFid) db.run(deleteInThread, fid, timestamp, kind, actorFid, ref, url);
}

/** Tells `fid` of the act; nobody is told of his own. */
export function notify(db: IndexDatabase, { fid, timestamp, kind, actorFid, ref }: Notification): void {
  if (fid !== actorFid) db.run(insertNotification, fid, timestamp, kind, actorFid, ref);
}

/** Takes the act back. */
export function unnotify(db: IndexDatabase, { fid, timestamp, kind, actorFid, ref }: Notification): void {
  if (fid !== actorFid) db.run(deleteNotification, fid, timestamp, kind, actorFid, ref);
}
