import type { IndexDatabase } from "../../../db/index/database.ts";
import { NotificationKind } from "../../../db/index/project/notifications.ts";
import { statement } from "../../../db/index/statement.ts";

/** The most acts that are counted. */
export const MAX_UNSEEN = 1000;
/** The newest acts among which unseen ones are counted. */
const MAX_EXAMINED = 10_000;

/** Until when the acts of each kind have been seen, unix seconds. A kind without an entry has not. */
export type SeenUntil = Partial<Record<NotificationKind, number>>;

const all = statement<{ n: number }, [fid: number]>(
  "skeleton.unseen",
  `SELECT count(*) AS n FROM (SELECT 1 FROM notifications WHERE fid = ? LIMIT ${MAX_UNSEEN}) below`,
);
const newer = statement<
  { n: number },
  [fid: number, from: number, mention: number, reply: number, like: number, recast: number, follow: number]
>(
  "skeleton.unseen.newer",
  `SELECT count(*) AS n FROM (
     SELECT 1 FROM (
       SELECT kind, timestamp FROM notifications WHERE fid = ?1 AND timestamp > ?2
       ORDER BY timestamp DESC LIMIT ${MAX_EXAMINED}) below
     WHERE timestamp > CASE kind WHEN ${NotificationKind.Mention} THEN ?3 WHEN ${NotificationKind.Reply} THEN ?4
       WHEN ${NotificationKind.Like} THEN ?5 WHEN ${NotificationKind.Recast} THEN ?6 ELSE ?7 END
     LIMIT ${MAX_UNSEEN}) b`,
);

/** Counts the acts that notify an fid and that have not been seen, among the newest 10,000. */
export function countUnseen(db: IndexDatabase, fid: number, seen: SeenUntil): number {
  const { Mention, Reply, Like, Recast, Follow } = NotificationKind;
  const times = [Mention, Reply, Like, Recast, Follow].map((kind) => seen[kind] ?? 0);
  const [mention = 0, reply = 0, like = 0, recast = 0, follow = 0] = times;
  const from = Math.min(...times);
  if (from === 0 && times.every((time) => time === 0)) return db.get(all, fid)?.n ?? 0;
  return db.get(newer, fid, from, mention, reply, like, recast, follow)?.n ?? 0;
}
