import { ReactionType } from "../../../protocol/wire/generated/message.ts";
import { countFollow, isFollowCounted } from "../channels/follows.ts";
import type { IndexDatabase } from "../database.ts";
import type { ReactionColumns } from "../messages/columns.ts";
import { statement } from "../statement.ts";
import { castIdOf, findCastId, findUrlId, urlIdOf, urlOf } from "./cast-references/named-ids.ts";
import { countOnCast } from "./casts.ts";
import { isNotified, type Notification, NotificationKind, notify, unnotify } from "./notifications.ts";

export interface ReactionRow {
  readonly fid: number;
  readonly targetFid: number;
  readonly targetId: number;
  readonly type: number;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly envelopeId: number;
}

/** The target of a reaction: a cast, or a URL. */
export type ReactionTarget = { readonly fid: number; readonly hash: Uint8Array } | { readonly url: string };

const COLUMNS =
  "fid, target_fid AS targetFid, target_id AS targetId, type, timestamp, envelope_id AS envelopeId";

const insertReaction = statement<
  unknown,
  [fid: number, targetFid: number, targetId: number, type: number, timestamp: number, envelopeId: number]
>(
  "project.reactions.insert",
  `INSERT INTO reactions (fid, target_fid, target_id, type, timestamp, envelope_id)
   VALUES (?, ?, ?, ?, ?, ?)`,
);
const deleteReaction = statement<unknown, [fid: number, targetFid: number, targetId: number, type: number]>(
  "project.reactions.delete",
  "DELETE FROM reactions WHERE fid = ? AND target_fid = ? AND target_id = ? AND type = ?",
);
const reactionTo = statement<ReactionRow, [fid: number, targetFid: number, targetId: number, type: number]>(
  "project.reactions.to",
  `SELECT ${COLUMNS} FROM reactions WHERE fid = ? AND target_fid = ? AND target_id = ? AND type = ?`,
);
const oldestReactions = statement<ReactionRow, [fid: number, type: number, maxTimestamp: number]>(
  "project.reactions.oldest",
  `SELECT ${COLUMNS} FROM reactions WHERE fid = ? AND type = ? AND timestamp <= ?`,
);
const nthOldestReaction = statement<{ timestamp: number }, [fid: number, type: number, skipped: number]>(
  "project.reactions.nth-oldest",
  "SELECT timestamp FROM reactions WHERE fid = ? AND type = ? ORDER BY timestamp LIMIT 1 OFFSET ?",
);

const reactionsTo = statement<{ n: number }, [targetId: number, type: number]>(
  "project.reactions.count-to",
  "SELECT count(*) AS n FROM reactions WHERE target_id = ? AND type = ?",
);

/** Returns the row of a user's live reaction to a target. */
export function findReaction(
  db: IndexDatabase,
  fid: number,
  type: number,
  target: ReactionTarget,
): ReactionRow | undefined {
  if ("url" in target) {
    const urlId = findUrlId(db, target.url);
    return urlId === undefined ? undefined : db.get(reactionTo, fid, 0, urlId, type);
  }
  const id = findCastId(db, target.fid, target.hash);
  if (id === undefined) return undefined;
  const found = db.get(reactionTo, fid, target.fid, id, type);
  if (found) return found;
  const oldId = db.repoints.oldIdOf(db, id);
  return oldId === undefined ? undefined : db.get(reactionTo, fid, target.fid, oldId, type);
}

/** Returns at least the `count` oldest reactions of an fid, plus all others of the same seconds. */
export function oldestReactionsOf(db: IndexDatabase, fid: number, count: number): ReactionRow[] {
  return [ReactionType.REACTION_TYPE_LIKE, ReactionType.REACTION_TYPE_RECAST].flatMap((type) => {
    const last = db.get(nthOldestReaction, fid, type, count - 1)?.timestamp;
    return db.all(oldestReactions, fid, type, last ?? Number.MAX_SAFE_INTEGER);
  });
}

export function addReaction(db: IndexDatabase, reaction: ReactionColumns, envelopeId: number): void {
  const { fid, type, timestamp, targetFid } = reaction;
  const targetId = targetIdOf(db, reaction);
  db.run(insertReaction, fid, targetFid, targetId, type, timestamp, envelopeId);
  if (reaction.targetHash === null) {
    countUrlLike(db, { type, timestamp, url: reaction.targetUrl ?? "" }, 1);
    return;
  }
  countReaction(db, targetId, targetFid, type, 1);
  notify(db, notificationOf(fid, targetFid, targetId, type, timestamp));
}

export function dropReaction(db: IndexDatabase, reaction: ReactionRow): void {
  const { fid, type, timestamp, targetFid, targetId } = reaction;
  db.run(deleteReaction, fid, targetFid, targetId, type);
  if (targetFid === 0) {
    countUrlLike(db, { type, timestamp, url: urlOf(db, targetId) }, -1);
    db.unnamed.url(targetId);
    return;
  }
  countReaction(db, targetId, targetFid, type, -1);
  unnotify(db, notificationOf(fid, targetFid, targetId, type, timestamp));
  db.unnamed.cast(targetId);
}

/** Reports whether the counts include a reaction that has no row; undefined if nothing shows it. */
export function isReactionCounted(db: IndexDatabase, reaction: ReactionColumns): boolean | undefined {
  const { fid, type, timestamp, targetFid, targetHash, targetUrl } = reaction;
  if (targetHash === null) {
    const url = targetUrl ?? "";
    const urlId = findUrlId(db, url);
    const isFollow =
      type === ReactionType.REACTION_TYPE_LIKE ? isFollowCounted(db, { timestamp, url }, urlId) : undefined;
    return isFollow ?? isUrlReactionCounted(db, urlId);
  }
  const id = findCastId(db, targetFid, targetHash);
  if (id === undefined) return false;
  const isSeen = isNotified(db, notificationOf(fid, targetFid, id, type, timestamp));
  if (isSeen !== undefined) return isSeen;
  const oldId = db.repoints.oldIdOf(db, id);
  const rows = [id, oldId].map((one) => (one === undefined ? 0 : (db.get(reactionsTo, one, type)?.n ?? 0)));
  const { likes, recasts } = db.counts.ofCast(db, db.repoints.newIdOf(db, id) ?? id);
  return (type === ReactionType.REACTION_TYPE_LIKE ? likes : recasts) > rows.reduce((sum, n) => sum + n, 0);
}

/** A URL is stored as long as a row names it. If other rows name it too, nothing shows whether this reaction was stored. */
function isUrlReactionCounted(db: IndexDatabase, urlId: number | undefined): boolean | undefined {
  if (urlId === undefined) return false;
  return db.unnamed.isLostUrl(db, urlId) ? true : undefined;
}

function countUrlLike(
  db: IndexDatabase,
  like: { readonly type: number; readonly timestamp: number; readonly url: string },
  by: 1 | -1,
): void {
  if (like.type === ReactionType.REACTION_TYPE_LIKE) countFollow(db, like, by);
}

/** Returns the id by which a row names the target of a reaction. */
export function targetIdOf(db: IndexDatabase, { targetFid, targetHash, targetUrl }: ReactionColumns): number {
  return targetHash === null ? urlIdOf(db, targetUrl ?? "") : castIdOf(db, targetFid, targetHash);
}

function countReaction(db: IndexDatabase, id: number, fid: number, type: number, by: 1 | -1): void {
  countOnCast(db, id, fid, type === ReactionType.REACTION_TYPE_LIKE ? { likes: by } : { recasts: by });
}

function notificationOf(
  actorFid: number,
  fid: number,
  ref: number,
  type: number,
  timestamp: number,
): Notification {
  const kind = type === ReactionType.REACTION_TYPE_LIKE ? NotificationKind.Like : NotificationKind.Recast;
  return { fid, timestamp, kind, actorFid, ref };
}
