import { timestampOfCastId } from "../../cast-id.ts";
import type { IndexDatabase } from "../../database.ts";
import { decodeRest } from "../../messages/fields.ts";
import { statement } from "../../statement.ts";
import { addToThread, dropFromThread } from "../notifications.ts";

/** The thread root of the replies to a cast: its own root, or the cast itself. `urlId` is the root's parent URL. */
export interface Root {
  readonly id: number;
  readonly fid: number;
  readonly hash: Uint8Array;
  readonly urlId: number | null;
}

/** A cast whose thread root changed. */
export interface MovedCast {
  id: number;
  fid: number;
  parentFid: number | null;
  rest: Uint8Array | null;
}

const rootOfReplies = statement<Root, [id: number]>(
  "threads.root-of-replies",
  `SELECT coalesce(root_id, id) AS id, coalesce(root_fid, fid) AS fid, coalesce(root_hash, hash) AS hash,
     coalesce(root_url_id, parent_url_id) AS urlId
   FROM casts WHERE id = ?1
   UNION ALL SELECT id, fid, hash, NULL FROM missing_casts WHERE id = ?1`,
);
const hasDescendant = statement<{ one: number }, [id: number]>(
  "threads.has-descendant",
  "SELECT 1 AS one FROM casts WHERE root_id = ? LIMIT 1",
);
const adoptDescendants = statement<
  MovedCast,
  [id: number, rootId: number, rootFid: number, rootHash: Uint8Array, rootUrlId: number | null]
>(
  "threads.adopt-descendants",
  `UPDATE casts SET root_id = ?2, root_fid = ?3, root_hash = ?4, root_url_id = ?5
   WHERE root_id = ?1 RETURNING id, fid, parent_fid AS parentFid, rest`,
);
const hasReply = statement<{ one: number }, [id: number]>(
  "threads.has-reply",
  "SELECT 1 AS one FROM casts WHERE parent_id = ? LIMIT 1",
);
const cutOffDescendants = statement<MovedCast, [id: number, fid: number, hash: Uint8Array]>(
  "threads.cut-off-descendants",
  `WITH RECURSIVE below (id) AS (
     SELECT id FROM casts WHERE parent_id = ?1
     UNION ALL
     SELECT c.id FROM below b JOIN casts c ON c.parent_id = b.id
   )
   UPDATE casts SET root_id = ?1, root_fid = ?2, root_hash = ?3, root_url_id = NULL
   WHERE id IN (SELECT id FROM below) RETURNING id, fid, parent_fid AS parentFid, rest`,
);

/** Returns the thread root of replies to a cast. The cast is live or in `missing_casts`. */
export function threadOf(db: IndexDatabase, id: number): Root {
  const root = db.get(rootOfReplies, id);
  if (!root) throw new Error("a row names a cast that has no row");
  return root;
}

/** Sets the root of the descendants of a cast that returned, after its row was inserted. */
export function adoptThread(db: IndexDatabase, id: number): void {
  if (!db.get(hasDescendant, id)) return;
  const root = threadOf(db, id);
  if (root.id === id && root.urlId === null) return;
  const adopted = db.all(adoptDescendants, id, root.id, root.fid, root.hash, root.urlId);
  moveThreadNotifications(db, adopted, null, root.urlId);
}

/** Makes a dropped cast the missing root of its descendants. `rootUrlId` is the parent URL of their previous root. */
export function cutOffThread(
  db: IndexDatabase,
  cast: { id: number; fid: number; hash: Uint8Array },
  rootUrlId: number | null,
): void {
  if (!db.get(hasReply, cast.id)) return;
  const cutOff = db.all(cutOffDescendants, cast.id, cast.fid, cast.hash);
  moveThreadNotifications(db, cutOff, rootUrlId, null);
}

/** Moves the thread notifications of these casts from one root URL to another. */
export function moveThreadNotifications(
  db: IndexDatabase,
  casts: readonly MovedCast[],
  from: number | null,
  to: number | null,
): void {
  for (const { id, fid, parentFid, rest } of casts) {
    db.invalidations.cast(id);
    if (from === null && to === null) continue;
    const mentioned = decodeRest(rest).mentions;
    const notifying = { id, fid, timestamp: timestampOfCastId(id), mentioned, parentFid };
    dropFromThread(db, from, notifying);
    addToThread(db, to, notifying);
  }
}
