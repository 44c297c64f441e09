import type { IndexDatabase } from "../../db/index/database.ts";
import { networkOfIndex } from "../../db/index/identity.ts";
import { messagesOf } from "../../db/index/messages/live-messages.ts";
import { statement } from "../../db/index/statement.ts";
import { gaslessKeysOf } from "../../ingest/merge/keys/gasless-key-store.ts";
import type { OnChainEventRef } from "../../ingest/merge/registry.ts";
import { proofsOfFid, rivalsOfFid } from "../../ingest/relay-proofs.ts";
import type { MessageRef } from "../../ingest/relayed-op.ts";
import type { Store } from "../../protocol/message/merge-rules.ts";
import { UserDataType, UserNameProof } from "../../protocol/wire/generated/message.ts";
import { OnChainEventType } from "../../protocol/wire/generated/on-chain.ts";

/** The types of on-chain events that make up the state of an fid. */
export const EVENT_TYPES = [
  OnChainEventType.EVENT_TYPE_ID_REGISTER,
  OnChainEventType.EVENT_TYPE_SIGNER,
  OnChainEventType.EVENT_TYPE_STORAGE_RENT,
  OnChainEventType.EVENT_TYPE_TIER_PURCHASE,
];

const eventsOf = statement<
  { blockNumber: number; logIndex: number; bytes: Uint8Array },
  [type: number, fid: number]
>(
  "upstream-stored.events",
  `SELECT block_number AS blockNumber, log_index AS logIndex, bytes FROM on_chain_events
   WHERE type = ? AND fid = ?`,
);
const fidsAfter = statement<{ fid: number }, [fid: number, limit: number]>(
  "upstream-stored.fids-after",
  "SELECT fid FROM fids WHERE fid > ? ORDER BY fid LIMIT ?",
);
const nextFid = statement<{ fid: number | null }, [fid: number]>(
  "upstream-stored.next-fid",
  `SELECT min(fid) AS fid FROM (
     SELECT min(fid) AS fid FROM fids WHERE fid > ?1
     UNION ALL SELECT min(fid) FROM store_counts WHERE fid > ?1
     UNION ALL SELECT min(fid) FROM username_proofs WHERE fid > ?1
     UNION ALL SELECT min(fid) FROM username_proof_rivals WHERE fid > ?1
     UNION ALL SELECT min(fid) FROM gasless_keys WHERE fid > ?1
     UNION ALL SELECT min(fid) FROM key_nonces WHERE fid > ?1
     ${EVENT_TYPES.map((type) => `UNION ALL SELECT min(fid) FROM on_chain_events WHERE type = ${type} AND fid > ?1`).join("\n     ")})`,
);
const requesters = statement<{ fid: number | null }, [fid: number]>(
  "upstream-stored.keys-of",
  "SELECT request_fid AS fid FROM gasless_keys WHERE fid > ? ORDER BY fid",
);
const isRegisteredFid = statement<{ one: number }, [fid: number]>(
  "upstream-stored.is-registered",
  "SELECT 1 AS one FROM fids WHERE fid = ?",
);

const unprovenNames = statement<{ fid: number; name: string }, [fid: number, type: number, limit: number]>(
  "upstream-stored.unproven-names",
  `SELECT f.fid, u.value AS name FROM fids f CROSS JOIN user_data u ON u.fid = f.fid AND u.type = ?2
   WHERE f.fid > ?1 AND u.value <> '' AND NOT EXISTS
     (SELECT 1 FROM username_proofs p WHERE p.name = u.value AND p.fid = f.fid)
   ORDER BY f.fid LIMIT ?3`,
);

/** Returns the next fids after `fid` that show a name for which the index has no proof of theirs, with the name. */
export function unprovenNamesAfter(
  db: IndexDatabase,
  fid: number,
  limit: number,
): { readonly fid: number; readonly name: string }[] {
  return db.all(unprovenNames, fid, UserDataType.USER_DATA_TYPE_USERNAME, limit);
}

/** Returns the live messages of an fid in a store, by their hashes in hex. */
export function storedMessages(db: IndexDatabase, fid: number, store: Store): Map<string, MessageRef> {
  const messages = messagesOf(db, networkOfIndex(db), fid, store).toArray();
  return new Map(messages.map(({ slot, hash }) => [hash.toHex(), { fid, store, slot, hash }]));
}

/** Returns the on-chain events of one type of an fid, by their bytes in hex. */
export function storedEvents(db: IndexDatabase, fid: number, type: number): Map<string, OnChainEventRef> {
  const rows = db.all(eventsOf, type, fid);
  return new Map(
    rows.map(({ blockNumber, logIndex, bytes }) => [bytes.toHex(), { type, fid, blockNumber, logIndex }]),
  );
}

/** Returns the proofs of an fid, shown or rival, by their bytes in hex. */
export function storedProofs(db: IndexDatabase, fid: number): Map<string, Uint8Array> {
  const rows = [...db.all(proofsOfFid, fid), ...db.all(rivalsOfFid, fid)];
  return new Map(
    rows.map((row) => {
      const bytes = UserNameProof.encode({ ...row, name: Buffer.from(row.name) }).finish();
      return [bytes.toHex(), bytes];
    }),
  );
}

/** A gasless key and the app that requested it. */
interface StoredKey {
  readonly key: Uint8Array;
  readonly requestFid: number;
}

/** Returns the gasless keys of an fid, by their bytes in hex. */
export function storedKeys(db: IndexDatabase, fid: number): Map<string, StoredKey> {
  return new Map(gaslessKeysOf(db, fid).map((stored) => [stored.key.toHex(), stored]));
}

/** Returns the next fid after `fid` for which the index has anything from the network. */
export function storedFidAfter(db: IndexDatabase, fid: number): number | undefined {
  return db.get(nextFid, fid)?.fid ?? undefined;
}

/** Returns the apps that requested gasless keys, possibly with repetitions. */
export function gaslessKeyRequesters(db: IndexDatabase): number[] {
  return db.all(requesters, 0).flatMap(({ fid }) => fid ?? []);
}

export function isRegistered(db: IndexDatabase, fid: number): boolean {
  return db.get(isRegisteredFid, fid) !== undefined;
}

/** Returns the next registered fids after `fid`. */
export function registeredFidsAfter(db: IndexDatabase, fid: number, limit: number): number[] {
  return db.all(fidsAfter, fid, limit).map((row) => row.fid);
}
