import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import type { Statement } from "../../../db/sqlite/statement-registry.ts";
import { ReactionType } from "../../../protocol/wire/generated/message.ts";
import {
  OnChainEvent,
  OnChainEventType,
  SignerEventType,
} from "../../../protocol/wire/generated/on-chain.ts";
import { hashesOfCasts } from "../../hydrate/cast-ids.ts";
import { type Hash, hex } from "../../hydrate/casts.ts";
import { hashesOfReactions } from "../casts/reaction-hashes.ts";
import { orderedPage } from "../ordered-page.ts";
import { newestFollowsSql } from "./newest-follows.ts";

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
  /** The cast that was acted on. */
  readonly castId: number;
  readonly targetFid: number;
  readonly timestamp: number;
  /** The type of a reaction; 0 for a reply. */
  readonly type: number;
  /** The row of a reply; 0 for a reaction. */
  readonly replyId: number;
}

const reactionsOf = (type: number, condition = "") =>
  `SELECT r.target_id AS castId, r.target_fid AS targetFid, r.timestamp AS timestamp, ${type} AS type, 0 AS replyId
   FROM reactions r CROSS JOIN casts c ON c.id = r.target_id
   WHERE r.fid = ?1 AND r.type = ${type}${condition}`;
const reactionRows = statement<ActRow, [fid: number, limit: number]>(
  "skeleton.batch.reactions",
  `${reactionsOf(LIKE)} UNION ALL ${reactionsOf(RECAST)} ORDER BY timestamp DESC LIMIT ?2`,
);
// A cast appears once for each kind of act, so the limit is three times the number of casts. Of several replies to one
// cast only the newest counts.
const actedOnRows = statement<ActRow, [fid: number, limit: number]>(
  "skeleton.batch.acted-on",
  `${reactionsOf(LIKE, " AND r.target_fid != ?1")}
   UNION ALL
   ${reactionsOf(RECAST, " AND r.target_fid != ?1")}
   UNION ALL
   SELECT c.id, c.fid, a.id >> 16, 0, a.id
   FROM casts a CROSS JOIN casts c ON c.id = a.parent_id
   WHERE a.fid = ?1 AND (a.parent_id IS NOT NULL) = 1 AND a.parent_fid != ?1
     AND NOT EXISTS (SELECT 1 FROM casts later
       WHERE later.fid = ?1 AND later.parent_id = a.parent_id AND later.id > a.id)
   ORDER BY timestamp DESC LIMIT ?2`,
);
const actRows = statement<
  { hash: Uint8Array; liked: number; recasted: number; replied: number },
  [fid: number, castsJson: string]
>(
  "skeleton.batch.acts",
  `SELECT c.hash,
     EXISTS (SELECT 1 FROM reactions r WHERE r.fid = ?1 AND r.target_fid = c.fid
       AND r.target_id = c.id AND r.type = ${LIKE}) AS liked,
     EXISTS (SELECT 1 FROM reactions r WHERE r.fid = ?1 AND r.target_fid = c.fid
       AND r.target_id = c.id AND r.type = ${RECAST}) AS recasted,
     EXISTS (SELECT 1 FROM casts a WHERE a.fid = ?1 AND a.parent_id = c.id) AS replied
   FROM json_each(?2) j CROSS JOIN casts c ON c.id = j.value ORDER BY j.key`,
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

/** Returns the follows of an fid, newest first, unregistered targets included. Times are unix seconds. */
export function newestFollows(db: IndexDatabase, fid: number): { fid: number; followedAt: number }[] {
  return db.all(followRows, fid);
}

/** Returns the authors of the live casts that an fid liked or recasted, newest reaction first. Times are unix seconds. */
export function newestReactions(db: IndexDatabase, fid: number): { targetFid: number; timestamp: number }[] {
  return newestActs(db, fid, reactionRows, MAX_REACTIONS).map(({ targetFid, timestamp }) => ({
    targetFid,
    timestamp,
  }));
}

/** Returns acts of an fid, newest first, equal times by the hash of the act. */
function newestActs(
  db: IndexDatabase,
  fid: number,
  rows: Statement<ActRow, [fid: number, limit: number]>,
  limit: number,
): ActRow[] {
  return orderedPage<ActRow>({
    limit,
    after: undefined,
    isTied: (a, b) => a.timestamp === b.timestamp,
    read: (maxRows) => db.all(rows, fid, maxRows),
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
  }).rows;
}

/** The acts of an fid on a live cast of another user. */
export interface CastInteraction {
  readonly hash: Hash;
  readonly liked: boolean;
  readonly recasted: boolean;
  readonly replied: boolean;
}

/** Returns the live casts of others that an fid liked, recasted or replied to, newest act first. */
export function newestCastInteractions(db: IndexDatabase, fid: number): CastInteraction[] {
  const acts = newestActs(db, fid, actedOnRows, 3 * MAX_INTERACTIONS);
  const recent = [...new Set(acts.map(({ castId }) => castId))].slice(0, MAX_INTERACTIONS);
  if (recent.length === 0) return [];
  return db.all(actRows, fid, JSON.stringify(recent)).map((row) => ({
    hash: hex(row.hash),
    liked: row.liked === 1,
    recasted: row.recasted === 1,
    replied: row.replied === 1,
  }));
}

/** Returns the on-chain keys of an fid whose latest event is an add, oldest first. Times are unix seconds. */
export function activeSigners(db: IndexDatabase, fid: number) {
  return db.all(signerRows, fid);
}

/** Returns the id-registry events of an fid in chain order. */
export function idRegistrations(db: IndexDatabase, fid: number): OnChainEvent[] {
  return db.all(registrationRows, fid).map(({ bytes }) => OnChainEvent.decode(bytes));
}
