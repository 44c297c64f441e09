import type { Repoint } from "../../commit-changes.ts";
import type { IndexDatabase } from "../../database.ts";
import { statement } from "../../statement.ts";
import { NotificationKind } from "../notifications.ts";
import { type MovedCast, moveThreadNotifications, threadOf } from "./threads.ts";

interface MovedReaction {
  fid: number;
  targetFid: number;
  type: number;
  timestamp: number;
}

const moveReactions = statement<MovedReaction, [oldId: number, newId: number, limit: number]>(
  "repoints.move-reactions",
  `UPDATE reactions SET target_id = ?2
   WHERE (fid, target_fid, target_id, type) IN
     (SELECT fid, target_fid, target_id, type FROM reactions WHERE target_id = ?1 LIMIT ?3)
   RETURNING fid, target_fid AS targetFid, type, timestamp`,
);
const moveNotification = statement<
  unknown,
  [oldId: number, newId: number, fid: number, timestamp: number, kind: number, actorFid: number]
>(
  "repoints.move-notification",
  `UPDATE notifications SET ref = ?2
   WHERE fid = ?3 AND timestamp = ?4 AND kind = ?5 AND actor_fid = ?6 AND ref = ?1`,
);
const moveQuotes = statement<unknown, [oldId: number, newId: number, limit: number]>(
  "repoints.move-quotes",
  `UPDATE cast_quotes SET quoted_id = ?2
   WHERE quoted_id = ?1
     AND cast_id IN (SELECT cast_id FROM cast_quotes WHERE quoted_id = ?1 LIMIT ?3)`,
);
const moveReplies = statement<
  MovedCast,
  [
    oldId: number,
    newId: number,
    limit: number,
    rootId: number,
    rootFid: number,
    rootHash: Uint8Array,
    rootUrlId: number | null,
  ]
>(
  "repoints.move-replies",
  `UPDATE casts SET parent_id = ?2, root_id = ?4, root_fid = ?5, root_hash = ?6, root_url_id = ?7
   WHERE id IN (SELECT id FROM casts WHERE parent_id = ?1 LIMIT ?3)
   RETURNING id, fid, parent_fid AS parentFid, rest`,
);
const moveDescendants = statement<
  MovedCast,
  [
    oldId: number,
    limit: number,
    rootId: number,
    rootFid: number,
    rootHash: Uint8Array,
    rootUrlId: number | null,
  ]
>(
  "repoints.move-descendants",
  `UPDATE casts SET root_id = ?3, root_fid = ?4, root_hash = ?5, root_url_id = ?6
   WHERE id IN (SELECT id FROM casts WHERE root_id = ?1 LIMIT ?2)
   RETURNING id, fid, parent_fid AS parentFid, rest`,
);
const dropMissing = statement<unknown, [id: number]>(
  "repoints.drop-missing",
  "DELETE FROM missing_casts WHERE id = ?",
);

/**
 * Moves the rows that name a cast by the id it had while it was missing to its own id. Rows beyond the limit of one
 * transaction are left to later ones (see `continueRepoints`). Until then, lists by target lack those rows.
 */
export function repoint(db: IndexDatabase, oldId: number, newId: number): void {
  db.counts.moveCast(db, oldId, newId);
  if (!moveRows(db, { oldId, newId })) db.repoints.add(db, { oldId, newId });
}

/** Moves more rows of earlier repoints, in a transaction. Returns whether any are left. */
export function continueRepoints(db: IndexDatabase): boolean {
  for (const pending of db.repoints.all(db)) {
    if (!moveRows(db, pending)) return true;
    db.repoints.remove(db, pending);
    // The cast may have been dropped in the meantime, so that it is missing again.
    db.unnamed.cast(pending.newId);
  }
  return false;
}

/**
 * Moves as many rows as the transaction may. Returns whether none are left. All replies move before other descendants, so
 * that a descendant whose root was moved can be reached from the cast through parents, as `dropCast` requires.
 */
function moveRows(db: IndexDatabase, ids: Repoint): boolean {
  for (const move of [reactionsTo, quotesOf, repliesTo, descendantsOf]) {
    const limit = db.repoints.rowsLeft;
    if (limit <= 0) return false;
    const moved = move(db, ids, limit);
    db.repoints.use(moved);
    if (moved >= limit) return false;
  }
  db.run(dropMissing, ids.oldId);
  db.invalidations.cast(ids.oldId);
  return true;
}

function reactionsTo(db: IndexDatabase, { oldId, newId }: Repoint, limit: number): number {
  const moved = db.all(moveReactions, oldId, newId, limit);
  for (const { fid, targetFid, type, timestamp } of moved) {
    const kind = type === 1 ? NotificationKind.Like : NotificationKind.Recast;
    if (fid !== targetFid) db.run(moveNotification, oldId, newId, targetFid, timestamp, kind, fid);
  }
  return moved.length;
}

function quotesOf(db: IndexDatabase, { oldId, newId }: Repoint, limit: number): number {
  return db.run(moveQuotes, oldId, newId, limit);
}

function repliesTo(db: IndexDatabase, { oldId, newId }: Repoint, limit: number): number {
  const root = threadOf(db, newId);
  const moved = db.all(moveReplies, oldId, newId, limit, root.id, root.fid, root.hash, root.urlId);
  moveThreadNotifications(db, moved, null, root.urlId);
  return moved.length;
}

function descendantsOf(db: IndexDatabase, { oldId, newId }: Repoint, limit: number): number {
  const root = threadOf(db, newId);
  const moved = db.all(moveDescendants, oldId, limit, root.id, root.fid, root.hash, root.urlId);
  moveThreadNotifications(db, moved, null, root.urlId);
  return moved.length;
}
