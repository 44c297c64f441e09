import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { ReactionType } from "../../../protocol/wire/generated/message.ts";
import {
  OnChainEvent,
  OnChainEventType,
  SignerEventType,
} from "../../../protocol/wire/generated/on-chain.ts";
import { type Hash, hex } from "../../hydrate/casts.ts";

/** The lists of the batch reads for one fid. Each list is bounded, so the number of fids bounds a request. */

const MAX_FOLLOWS = 10_000;
const MAX_REACTIONS = 1000;
const MAX_INTERACTIONS = 1000;
const MAX_EVENTS = 1000;

const LIKE = ReactionType.REACTION_TYPE_LIKE;
const RECAST = ReactionType.REACTION_TYPE_RECAST;

const followRows = statement<{ fid: number; followedAt: number }, [fid: number]>(
  "skeleton.batch.follows",
  `SELECT target_fid AS fid, linked_at AS followedAt FROM links WHERE fid = ? AND type = 'follow'
   ORDER BY linked_at DESC, target_fid DESC LIMIT ${MAX_FOLLOWS}`,
);
const reactionRows = statement<{ targetFid: number; timestamp: number }, [fid: number]>(
  "skeleton.batch.reactions",
  `SELECT r.target_fid AS targetFid, r.timestamp AS timestamp, r.hash AS act
   FROM reactions r CROSS JOIN casts c ON c.hash = r.target_hash AND c.fid = r.target_fid
   WHERE r.fid = ?1 AND r.type = ${LIKE}
   UNION ALL
   SELECT r.target_fid, r.timestamp, r.hash
   FROM reactions r CROSS JOIN casts c ON c.hash = r.target_hash AND c.fid = r.target_fid
   WHERE r.fid = ?1 AND r.type = ${RECAST}
   ORDER BY timestamp DESC, act DESC LIMIT ${MAX_REACTIONS}`,
);
// A cast appears once for each kind of act, so the limit is three times the number of casts. Of several replies to one
// cast only the newest counts.
const actedOnRows = statement<{ castHash: Uint8Array; author: number }, [fid: number]>(
  "skeleton.batch.acted-on",
  `SELECT c.hash AS castHash, c.fid AS author, r.timestamp AS timestamp, r.hash AS act
   FROM reactions r CROSS JOIN casts c ON c.hash = r.target_hash AND c.fid = r.target_fid
   WHERE r.fid = ?1 AND r.type = ${LIKE} AND r.target_fid != ?1
   UNION ALL
   SELECT c.hash, c.fid, r.timestamp, r.hash
   FROM reactions r CROSS JOIN casts c ON c.hash = r.target_hash AND c.fid = r.target_fid
   WHERE r.fid = ?1 AND r.type = ${RECAST} AND r.target_fid != ?1
   UNION ALL
   SELECT c.hash, c.fid, a.timestamp, a.hash
   FROM casts a CROSS JOIN casts c ON c.hash = a.parent_hash AND c.fid = a.parent_fid
   WHERE a.fid = ?1 AND a.parent_hash IS NOT NULL AND a.parent_fid != ?1
     AND NOT EXISTS (SELECT 1 FROM casts later
       WHERE later.fid = ?1 AND later.parent_hash = a.parent_hash AND later.parent_fid = a.parent_fid
         AND (later.timestamp, later.hash) > (a.timestamp, a.hash))
   ORDER BY timestamp DESC, act DESC LIMIT ${3 * MAX_INTERACTIONS}`,
);
const actRows = statement<
  { hash: Uint8Array; liked: number; recasted: number; replied: number },
  [fid: number, authorsByHashJson: string]
>(
  "skeleton.batch.acts",
  `SELECT unhex(j.key) AS hash,
     EXISTS (SELECT 1 FROM reactions r WHERE r.fid = ?1 AND r.target_fid = j.value
       AND r.target_hash = unhex(j.key) AND r.type = ${LIKE}) AS liked,
     EXISTS (SELECT 1 FROM reactions r WHERE r.fid = ?1 AND r.target_fid = j.value
       AND r.target_hash = unhex(j.key) AND r.type = ${RECAST}) AS recasted,
     EXISTS (SELECT 1 FROM casts a
       WHERE a.fid = ?1 AND a.parent_hash = unhex(j.key) AND a.parent_fid = j.value) AS replied
   FROM json_each(?2) j`,
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
  return db.all(reactionRows, fid);
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
  const authors = new Map(db.all(actedOnRows, fid).map(({ castHash, author }) => [hex(castHash), author]));
  const recent = [...authors].slice(0, MAX_INTERACTIONS);
  if (recent.length === 0) return [];
  const acts = new Map<Hash, CastInteraction>();
  const json = JSON.stringify(Object.fromEntries(recent.map(([hash, author]) => [hash.slice(2), author])));
  for (const row of db.all(actRows, fid, json)) {
    const hash = hex(row.hash);
    acts.set(hash, {
      hash,
      liked: row.liked === 1,
      recasted: row.recasted === 1,
      replied: row.replied === 1,
    });
  }
  return recent.flatMap(([hash]) => acts.get(hash) ?? []);
}

/** Returns the on-chain keys of an fid whose latest event is an add, oldest first. Times are unix seconds. */
export function activeSigners(db: IndexDatabase, fid: number) {
  return db.all(signerRows, fid);
}

/** Returns the id-registry events of an fid in chain order. */
export function idRegistrations(db: IndexDatabase, fid: number): OnChainEvent[] {
  return db.all(registrationRows, fid).map(({ bytes }) => OnChainEvent.decode(bytes));
}
