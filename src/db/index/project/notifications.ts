import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";

/** The kinds of notification. The numbers are stored in the database. */
export const NotificationKind = { Mention: 1, Reply: 2, Like: 3, Recast: 4, Follow: 5 } as const;
export type NotificationKind = (typeof NotificationKind)[keyof typeof NotificationKind];

/**
 * An action of `actorFid` that concerns `fid`. `timestamp` is in Unix seconds; `ref` is the id of a cast, or `NO_CAST` for a
 * follow.
 */
export interface Notification {
  readonly fid: number;
  readonly timestamp: number;
  readonly kind: NotificationKind;
  readonly actorFid: number;
  readonly ref: number;
}

export const NO_CAST = 0;

/** The fields of a cast that cause notifications. `mentioned` are fids. */
export interface NotifyingCast {
  readonly id: number;
  readonly fid: number;
  readonly timestamp: number;
  readonly mentioned: Iterable<number>;
  readonly parentFid: number | null;
}

type Row = [fid: number, timestamp: number, kind: number, actorFid: number, ref: number];

const insertNotification = statement<unknown, Row>(
  "project.notifications.insert",
  "INSERT INTO notifications (fid, timestamp, kind, actor_fid, ref) VALUES (?, ?, ?, ?, ?)",
);
const deleteNotification = statement<unknown, Row>(
  "project.notifications.delete",
  "DELETE FROM notifications WHERE fid = ? AND timestamp = ? AND kind = ? AND actor_fid = ? AND ref = ?",
);

const notificationAt = statement<{ one: number }, Row>(
  "project.notifications.at",
  `SELECT 1 AS one FROM notifications
   WHERE fid = ? AND timestamp = ? AND kind = ? AND actor_fid = ? AND ref = ?`,
);

const insertInThread = statement<unknown, [...Row, rootUrlId: number]>(
  "project.thread-notifications.insert",
  `INSERT INTO thread_notifications (fid, timestamp, kind, actor_fid, ref, root_url_id)
   VALUES (?, ?, ?, ?, ?, ?)`,
);
const deleteInThread = statement<unknown, [...Row, rootUrlId: number]>(
  "project.thread-notifications.delete",
  `DELETE FROM thread_notifications
   WHERE fid = ? AND timestamp = ? AND kind = ? AND actor_fid = ? AND ref = ? AND root_url_id = ?`,
);

/** Returns the notifications of a cast, one per user. A reply that also mentions the parent's author counts as a reply. */
export function notificationsOfCast(cast: NotifyingCast): Notification[] {
  const { fid: actorFid, timestamp, id: ref } = cast;
  const kinds = new Map<number, NotificationKind>();
  for (const fid of cast.mentioned) kinds.set(fid, NotificationKind.Mention);
  if (cast.parentFid !== null) kinds.set(cast.parentFid, NotificationKind.Reply);
  return [...kinds].map(([fid, kind]) => ({ fid, timestamp, kind, actorFid, ref }));
}

/** Adds the notifications of a cast to the list of its thread, whose root is under the URL with this id. */
export function addToThread(db: IndexDatabase, urlId: number | null, cast: NotifyingCast): void {
  if (urlId === null) return;
  for (const { fid, timestamp, kind, actorFid, ref } of notificationsOfCast(cast))
    if (fid !== actorFid) db.run(insertInThread, fid, timestamp, kind, actorFid, ref, urlId);
}

/** Reverses `addToThread`. */
export function dropFromThread(db: IndexDatabase, urlId: number | null, cast: NotifyingCast): void {
  if (urlId === null) return;
  for (const { fid, timestamp, kind, actorFid, ref } of notificationsOfCast(cast))
    if (fid !== actorFid) db.run(deleteInThread, fid, timestamp, kind, actorFid, ref, urlId);
}

/** Adds a notification unless the actor is the recipient. */
export function notify(db: IndexDatabase, { fid, timestamp, kind, actorFid, ref }: Notification): void {
  if (fid !== actorFid) db.run(insertNotification, fid, timestamp, kind, actorFid, ref);
}

/** Reverses `notify`. */
export function unnotify(db: IndexDatabase, { fid, timestamp, kind, actorFid, ref }: Notification): void {
  if (fid !== actorFid) db.run(deleteNotification, fid, timestamp, kind, actorFid, ref);
}

/** Reports whether a notification is stored; undefined if the actor is the recipient, who gets none. */
export function isNotified(
  db: IndexDatabase,
  { fid, timestamp, kind, actorFid, ref }: Notification,
): boolean | undefined {
  if (fid === actorFid) return undefined;
  return db.get(notificationAt, fid, timestamp, kind, actorFid, ref) !== undefined;
}
