import { toUnixSecs } from "../../../protocol/time.ts";
import type { LinkBody, MessageData } from "../../../protocol/wire/generated/message.ts";
import type { IndexDatabase } from "../database.ts";
import { type LinkColumns, LinkType } from "../messages/columns.ts";
import { statement } from "../statement.ts";
import {
  isNotified,
  NO_CAST,
  type Notification,
  NotificationKind,
  notify,
  unnotify,
} from "./notifications.ts";

/** The link type of follows. */
export const FOLLOW = "follow";
const MUTE = "mute";

/** A row of `links`. For `type`, see `LinkType`. Times are in Unix seconds. */
export interface LinkRow {
  readonly fid: number;
  readonly type: number | string;
  readonly targetFid: number;
  readonly timestamp: number;
  readonly displayedAt: number | null;
  readonly envelopeId: number;
}

const COLUMNS =
  "fid, type, target_fid AS targetFid, timestamp, displayed_at AS displayedAt, envelope_id AS envelopeId";

const insertLink = statement<
  unknown,
  [
    fid: number,
    type: number | string,
    targetFid: number,
    timestamp: number,
    displayedAt: number | null,
    envelopeId: number,
  ]
>(
  "project.links.insert",
  "INSERT INTO links (fid, type, target_fid, timestamp, displayed_at, envelope_id) VALUES (?, ?, ?, ?, ?, ?)",
);
const deleteLink = statement<unknown, [fid: number, type: number | string, targetFid: number]>(
  "project.links.delete",
  "DELETE FROM links WHERE fid = ? AND type = ? AND target_fid = ?",
);
const linkTo = statement<LinkRow, [fid: number, type: number | string, targetFid: number]>(
  "project.links.to",
  `SELECT ${COLUMNS} FROM links WHERE fid = ? AND type = ? AND target_fid = ?`,
);
const linksUpTo = statement<LinkRow, [fid: number, type: number | string, maxTimestamp: number]>(
  "project.links.up-to",
  `SELECT ${COLUMNS} FROM links WHERE fid = ? AND type = ? AND timestamp <= ?`,
);
const nextType = statement<{ type: number | string }, [fid: number, after: number | string]>(
  "project.links.next-type",
  "SELECT type FROM links WHERE fid = ? AND type > ? ORDER BY type LIMIT 1",
);
const nthOldestLink = statement<
  { timestamp: number },
  [fid: number, type: number | string, limit: number, skipped: number]
>(
  "project.links.nth-oldest",
  `SELECT timestamp FROM (
     SELECT * FROM (SELECT timestamp FROM links
       WHERE fid = ?1 AND type = ?2 AND displayed_at IS NULL ORDER BY timestamp LIMIT ?3)
     UNION ALL
     SELECT * FROM (SELECT timestamp FROM links
       WHERE fid = ?1 AND type = ?2 AND displayed_at IS NOT NULL ORDER BY timestamp LIMIT ?3))
   ORDER BY timestamp LIMIT 1 OFFSET ?4`,
);
const oldestLinks = statement<LinkRow, [fid: number, type: number | string, maxTimestamp: number]>(
  "project.links.oldest",
  `SELECT ${COLUMNS} FROM links WHERE fid = ?1 AND type = ?2 AND displayed_at IS NULL AND timestamp <= ?3
   UNION ALL
   SELECT ${COLUMNS} FROM links WHERE fid = ?1 AND type = ?2 AND displayed_at IS NOT NULL AND timestamp <= ?3`,
);

/** Returns the row of a user's live link of a stored type to a target. */
export function findLink(
  db: IndexDatabase,
  fid: number,
  type: number | string,
  targetFid: number,
): LinkRow | undefined {
  return db.get(linkTo, fid, type, targetFid);
}

/** Returns the live links of a user and stored type whose messages are not newer than `maxTimestamp`. */
export function linksOfType(
  db: IndexDatabase,
  fid: number,
  type: number | string,
  maxTimestamp: number,
): LinkRow[] {
  return db.all(linksUpTo, fid, type, maxTimestamp);
}

/** Returns at least the `count` oldest links of an fid by message time, plus all others of the same seconds. */
export function oldestLinksOf(db: IndexDatabase, fid: number, count: number): LinkRow[] {
  return typesOf(db, fid).flatMap((type) => {
    const last = db.get(nthOldestLink, fid, type, count, count - 1)?.timestamp;
    return db.all(oldestLinks, fid, type, last ?? Number.MAX_SAFE_INTEGER);
  });
}

function typesOf(db: IndexDatabase, fid: number): (number | string)[] {
  const types: (number | string)[] = [];
  // Numbers sort before texts.
  for (
    let type = db.get(nextType, fid, 0)?.type;
    type !== undefined;
    type = db.get(nextType, fid, type)?.type
  )
    types.push(type);
  return types;
}

export function addLink(db: IndexDatabase, link: LinkColumns, envelopeId: number): void {
  const { fid, type, targetFid, timestamp, displayedAt } = link;
  db.run(insertLink, fid, type, targetFid, timestamp, displayedAt, envelopeId);
  touch(db, type, fid, targetFid);
  if (type !== LinkType.Follow) return;
  const linkedAt = displayedAt ?? timestamp;
  count(db, fid, targetFid, 1);
  addMutualFollow(db, fid, targetFid, linkedAt);
  notify(db, notificationOf(fid, targetFid, linkedAt));
}

export function dropLink(db: IndexDatabase, link: LinkRow): void {
  const { fid, type, targetFid, timestamp, displayedAt } = link;
  db.run(deleteLink, fid, type, targetFid);
  touch(db, type, fid, targetFid);
  if (type !== LinkType.Follow) return;
  count(db, fid, targetFid, -1);
  dropMutualFollow(db, fid, targetFid);
  unnotify(db, notificationOf(fid, targetFid, displayedAt ?? timestamp));
}

/** Reports whether the counts include a link that has no row; undefined if nothing shows it. */
export function isLinkCounted(db: IndexDatabase, link: LinkColumns): boolean | undefined {
  const { fid, type, targetFid, timestamp, displayedAt } = link;
  if (type !== LinkType.Follow) return undefined;
  return isNotified(db, notificationOf(fid, targetFid, displayedAt ?? timestamp));
}

function count(db: IndexDatabase, fid: number, targetFid: number, by: 1 | -1): void {
  db.counts.follow(fid, { following: by });
  db.counts.follow(targetFid, { followers: by });
}

/** Link types that are counted, or that hide users from each other. */
const SHOWN_TYPES: ReadonlySet<number | string> = new Set([LinkType.Follow, LinkType.Block, MUTE]);

function touch(db: IndexDatabase, type: number | string, fid: number, targetFid: number): void {
  if (!SHOWN_TYPES.has(type)) return;
  db.invalidations.user(fid);
  db.invalidations.user(targetFid);
}

/** Returns the time of a link in Unix seconds: its display timestamp if it has one, otherwise its message timestamp. */
export function linkedAtOf(data: MessageData, body: LinkBody): number {
  return toUnixSecs(body.displayTimestamp ?? data.timestamp);
}

function notificationOf(actorFid: number, fid: number, timestamp: number): Notification {
  return { fid, timestamp, kind: NotificationKind.Follow, actorFid, ref: NO_CAST };
}

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

/** Records the pair if the reverse follow exists. Its `since` is the later of the two times. */
function addMutualFollow(db: IndexDatabase, fid: number, targetFid: number, at: number): void {
  const back = db.get(followedAt, targetFid, fid);
  // Users who follow themselves are not a pair.
  if (!back || fid === targetFid) return;
  const since = Math.max(at, back.at);
  db.run(insertPair, fid, targetFid, since);
  db.run(insertPair, targetFid, fid, since);
}

function dropMutualFollow(db: IndexDatabase, fid: number, targetFid: number): void {
  db.run(deletePair, fid, targetFid);
  db.run(deletePair, targetFid, fid);
}
