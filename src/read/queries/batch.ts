import type { IndexDatabase } from "../../db/index/database.ts";
import { statement } from "../../db/index/statement.ts";
import type { Statement } from "../../db/sqlite/statement-registry.ts";
import { ReactionType } from "../../protocol/wire/generated/message.ts";
import { OnChainEvent, OnChainEventType, SignerEventType } from "../../protocol/wire/generated/on-chain.ts";
import { type Hash, hashesOfCasts, hex } from "../hydrate/casts.ts";
import { hashesOfReactions } from "./casts/reactions.ts";
import { isLiveCast, orderedPage } from "./ordered-page.ts";
import { newestFollowsSql } from "./users/links.ts";

/** The lists of the batch reads for one fid. Each list is bounded, so the number of fids bounds a request. */

const MAX_FOLLOWS = 10_000;
const MAX_REACTIONS = 1000;
const MAX_INTERACTIONS = 1000;
const MAX_EVENTS = 1000;

const LIKE = ReactionType.REACTION_TYPE_LIKE;
const RECAST = ReactionType.REACTION_TYPE_RECAST;

const followRows = statement<{ fid: number; followedAt: number }, [fid: number]>(
  "skeleton.batch.follows",
  `SELECT target_fid AS fid, at AS followedAt FROM (${newestFollowsSql(MAX_FOLLOWS)}) below`,
);

/** A like or recast of a live cast, or the newest reply to one. */
interface ActRow {
  /** The row of the cast that was acted on. */
  readonly castId: number;
  /** The target of a reaction; 0 for a reply. */
  readonly targetFid: number;
  readonly timestamp: number;
  /** The type of a reaction; 0 for a reply. */
  readonly type: number;
  /** The row of a reply; 0 for a reaction. */
  readonly replyId: number;
}

const reactionsOf = (type: number, condition = "") =>
  `SELECT r.target_id AS castId, r.target_fid AS targetFid, r.timestamp AS timestamp, ${type} AS type, 0 AS replyId
   FROM reactions r WHERE r.fid = ?1 AND r.type = ${type}${condition} AND ${isLiveCast("r.target_id")}`;
type Acts = Statement<ActRow, [fid: number, limit: number]>;
const reactionRows: Acts = statement(
  "skeleton.batch.reactions",
  `${reactionsOf(LIKE)} UNION ALL ${reactionsOf(RECAST)} ORDER BY timestamp DESC LIMIT ?2`,
);
const toOthers = (type: number) =>
  `SELECT * FROM (${reactionsOf(type, " AND r.target_fid != ?1")} ORDER BY r.timestamp DESC LIMIT ?2) below`;
// The newest acts of each kind. A kind has each cast at most once, with the newest of several replies. The author's own
// casts are one range of an index, so no row of a cast is read.
const actsOnOthers: Acts = statement(
  "skeleton.batch.acts-on-others",
  `${toOthers(LIKE)}
   UNION ALL
   ${toOthers(RECAST)}
   UNION ALL
   SELECT * FROM
     (SELECT below.parent_id AS castId, 0 AS targetFid, below.id >> 16 AS timestamp, 0 AS type, below.id AS replyId
      FROM (SELECT parent_id, max(id) AS id FROM casts WHERE fid = ?1 AND parent_id IS NOT NULL
            GROUP BY parent_id ORDER BY 2 DESC) below
      WHERE ${isLiveCast("below.parent_id")} AND NOT EXISTS (SELECT 1 FROM casts own INDEXED BY casts_by_author
        WHERE own.fid = ?1 AND (own.parent_id IS NOT NULL) IN (0, 1) AND own.id = below.parent_id)
      LIMIT ?2) below`,
);
const actRows = statement<
  { castId: number; hash: Uint8Array; liked: number; recasted: number; replied: number },
  [fid: number, castsJson: string]
>(
  "skeleton.batch.acts",
  `SELECT c.id AS castId, c.hash,
     EXISTS (SELECT 1 FROM reactions r WHERE r.fid = ?1 AND r.target_fid = c.fid
       AND r.target_id = c.id AND r.type = ${LIKE}) AS liked,
     EXISTS (SELECT 1 FROM reactions r WHERE r.fid = ?1 AND r.target_fid = c.fid
       AND r.target_id = c.id AND r.type = ${RECAST}) AS recasted,
     EXISTS (SELECT 1 FROM casts a WHERE a.fid = ?1 AND a.parent_id = c.id) AS replied
   FROM json_each(?2) j CROSS JOIN casts c ON c.id = j.value`,
);
const signerRows = statement<
  { key: Uint8Array; keyType: number; metadataType: number; addedAt: number },
  [fid: number]
>(
  "skeleton.batch.signers",
  `SELECT key, key_type AS keyType, metadata_type AS metadataType, added_at AS addedAt FROM signers
   WHERE fid = ? AND state = ${SignerEventType.SIGNER_EVENT_TYPE_ADD}
   ORDER BY added_at, key LIMIT ${MAX_EVENTS}`,
);
const registrationRows = statement<{ bytes: Uint8Array }, [fid: number]>(
  "skeleton.batch.id-registrations",
  `SELECT bytes FROM on_chain_events WHERE type = ${OnChainEventType.EVENT_TYPE_ID_REGISTER} AND fid = ?
   ORDER BY block_number, log_index LIMIT ${MAX_EVENTS}`,
);

/** Returns the follows of an fid, newest first, including unregistered targets. Times are in Unix seconds. */
export function newestFollows(db: IndexDatabase, fid: number): { fid: number; followedAt: number }[] {
  return db.all(followRows, fid);
}

/** Returns the authors of the live casts that an fid liked or recasted, newest reaction first. Times are in Unix seconds. */
export function newestReactions(db: IndexDatabase, fid: number): { targetFid: number; timestamp: number }[] {
  const read = (maxRows: number) => db.all(reactionRows, fid, maxRows);
  return newestActs(db, fid, { limit: MAX_REACTIONS, read }).rows.map(({ targetFid, timestamp }) => ({
    targetFid,
    timestamp,
  }));
}

/** Returns acts of an fid, newest first; equal times are ordered by the hash of the act. */
function newestActs(
  db: IndexDatabase,
  fid: number,
  list: { readonly limit: number; readonly read: (maxRows: number) => ActRow[] },
): { rows: ActRow[]; hasMore: boolean } {
  return orderedPage<ActRow>({
    ...list,
    after: undefined,
    isTied: (a, b) => a.timestamp === b.timestamp,
    hashesOf(acts) {
      const reactions = acts.filter(({ replyId }) => replyId === 0);
      const hashes = hashesOfReactions(
        db,
        reactions.map(({ castId, targetFid, type }) => ({ fid, targetFid, targetId: castId, type })),
      );
      const replies = acts.flatMap(({ replyId }) => (replyId === 0 ? [] : [replyId]));
      const replyHashes = replies.length === 0 ? [] : hashesOfCasts(db, replies);
      return acts.map(({ replyId }) => (replyId === 0 ? hashes.shift() : replyHashes.shift()) ?? "0x");
    },
  });
}

/** The acts of an fid on another user's live cast. */
export interface CastInteraction {
  readonly hash: Hash;
  readonly liked: boolean;
  readonly recasted: boolean;
  readonly replied: boolean;
}

/** Returns other users' live casts that an fid liked, recasted or replied to, newest act first. */
export function newestCastInteractions(
  db: IndexDatabase,
  fid: number,
  limit = MAX_INTERACTIONS,
): CastInteraction[] {
  const recent = newestActedOn(db, fid, limit);
  if (recent.length === 0) return [];
  // Sorted, because casts of about the same time are on the same pages.
  const found = db.all(actRows, fid, JSON.stringify(recent.toSorted((a, b) => a - b)));
  const interactions = new Map(
    found.map(({ castId, hash, liked, recasted, replied }) => [
      castId,
      { hash: hex(hash), liked: liked === 1, recasted: recasted === 1, replied: replied === 1 },
    ]),
  );
  return recent.flatMap((castId) => interactions.get(castId) ?? []);
}

/** Returns the ids of other users' live casts that an fid acted on, newest act first. */
function newestActedOn(db: IndexDatabase, fid: number, limit: number): number[] {
  const read = (maxRows: number) => newestOfEach(db, fid, maxRows);
  for (let maxActs = limit; ; ) {
    const { rows, hasMore } = newestActs(db, fid, { limit: maxActs, read });
    const castIds = [...new Set(rows.map(({ castId }) => castId))];
    if (!hasMore || castIds.length >= limit) return castIds.slice(0, limit);
    // Some casts have several acts in one second.
    maxActs += limit - castIds.length;
  }
}

/** Returns the newest acts of an fid on other users' casts, without acts on a cast before its last second with an act. */
function newestOfEach(db: IndexDatabase, fid: number, maxRows: number): ActRow[] {
  const newestAt = new Map<number, number>();
  return db
    .all(actsOnOthers, fid, maxRows)
    .sort((a, b) => b.timestamp - a.timestamp)
    .filter(({ castId, timestamp }) => {
      const newest = newestAt.get(castId) ?? timestamp;
      newestAt.set(castId, newest);
      return timestamp === newest;
    })
    .slice(0, maxRows);
}

/** Returns the on-chain keys of an fid whose latest event is an add, oldest first. Times are in Unix seconds. */
export function activeSigners(db: IndexDatabase, fid: number) {
  return db.all(signerRows, fid);
}

/** Returns the id-registry events of an fid in chain order. */
export function idRegistrations(db: IndexDatabase, fid: number): OnChainEvent[] {
  return db.all(registrationRows, fid).map(({ bytes }) => OnChainEvent.decode(bytes));
}
