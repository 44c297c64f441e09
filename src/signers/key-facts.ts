import type { IndexDatabase } from "../db/index/database.ts";
import { statement } from "../db/index/statement.ts";
import { KEY_TYPE_AUTH_ADDRESS, KEY_TYPE_ED25519 } from "../protocol/validate/chain/gasless-key.ts";
import { SignerEventType } from "../protocol/wire/generated/on-chain.ts";

/** An active key of a user in the index. Times are unix seconds. */
export interface KeyFact {
  readonly fid: number;
  /** The fid that requested the key; 0 if the metadata on chain names none. */
  readonly requestFid: number;
  readonly addedAt: number;
  /** When a gasless key expires unless it is used. Null for a key on chain. */
  readonly expiresAt: number | null;
}

/** Looks up 32-byte keys in the index. */
export type KeyFacts = ReturnType<typeof keyFactsFromIndex>;

const added = `state = ${SignerEventType.SIGNER_EVENT_TYPE_ADD}`;
const active = `key_type = ${KEY_TYPE_ED25519} AND ${added}`;
const onChain = statement<KeyFact, [fid: number, key: Uint8Array]>(
  "signers.on-chain-key",
  `SELECT fid, request_fid AS requestFid, added_at AS addedAt, NULL AS expiresAt FROM signers
   WHERE fid = ? AND key = ? AND ${active}`,
);
/** Each user who has registered the key has paid for it on chain. */
const onChainBy = statement<KeyFact, [key: Uint8Array, requestFid: number]>(
  "signers.on-chain-key-by-requester",
  `SELECT fid, request_fid AS requestFid, added_at AS addedAt, NULL AS expiresAt FROM signers
   WHERE key = ? AND request_fid = ? AND ${active} ORDER BY added_at, fid LIMIT 1`,
);
const onChainBySelf = statement<KeyFact, [key: Uint8Array]>(
  "signers.on-chain-key-by-its-user",
  `SELECT fid, request_fid AS requestFid, added_at AS addedAt, NULL AS expiresAt FROM signers
   WHERE key = ? AND request_fid = fid AND ${active} ORDER BY added_at, fid LIMIT 1`,
);
const addressBy = statement<{ fid: number }, [key: Uint8Array, requestFid: number]>(
  "signers.auth-address-by-requester",
  `SELECT fid FROM signers WHERE key = ? AND request_fid = ? AND key_type = ${KEY_TYPE_AUTH_ADDRESS} AND ${added}
   ORDER BY added_at, fid LIMIT 1`,
);
const ofAnyType = statement<{ one: number }, [fid: number, key: Uint8Array]>(
  "signers.on-chain-key-of-any-type",
  `SELECT 1 AS one FROM signers WHERE fid = ? AND key = ? AND ${added}`,
);
const gasless = statement<KeyFact, [key: Uint8Array, nowSecs: number]>(
  "signers.gasless-key",
  `SELECT fid, request_fid AS requestFid, added_at AS addedAt, last_used_at + ttl_secs AS expiresAt
   FROM gasless_keys WHERE key = ? AND last_used_at + ttl_secs >= ?`,
);
const gaslessHolder = statement<{ fid: number; requestFid: number }, [key: Uint8Array]>(
  "signers.gasless-key-holder",
  "SELECT fid, request_fid AS requestFid FROM gasless_keys WHERE key = ?",
);
const onChainKeys = statement<{ key: Uint8Array }, [fid: number, limit: number]>(
  "signers.on-chain-keys-of-fid",
  `SELECT key FROM signers WHERE fid = ? AND ${active} LIMIT ?`,
);
const gaslessKeys = statement<{ key: Uint8Array }, [fid: number, nowSecs: number, limit: number]>(
  "signers.gasless-keys-of-fid",
  "SELECT key FROM gasless_keys WHERE fid = ? AND last_used_at + ttl_secs >= ? LIMIT ?",
);

export function keyFactsFromIndex(db: IndexDatabase) {
  return {
    /** Returns the key of this user; undefined unless it is active. */
    of(fid: number, key: Uint8Array, nowSecs: number): KeyFact | undefined {
      const row = db.get(onChain, fid, key);
      if (row) return row;
      const free = db.get(gasless, key, nowSecs);
      return free?.fid === fid ? free : undefined;
    },
    /** Returns the first user who added this key at the request of an fid; undefined if no user has it now. */
    requestedBy(requestFid: number, key: Uint8Array, nowSecs: number): KeyFact | undefined {
      const row = db.get(onChainBy, key, requestFid);
      const free = db.get(gasless, key, nowSecs);
      const found = [row, free].filter((one) => one?.requestFid === requestFid);
      return found.reduce(
        (first, one) => (first && one && first.addedAt <= one.addedAt ? first : one),
        undefined,
      );
    },
    /**
     * Returns the first user who added this auth address, padded to 32 bytes, at the request of an fid; undefined if no user has it now.
     */
    addressRequestedBy: (requestFid: number, key: Uint8Array): { readonly fid: number } | undefined =>
      db.get(addressBy, key, requestFid),
    /** Reports whether a user has a key of either type on chain now. */
    isOnChain: (fid: number, key: Uint8Array): boolean => db.get(ofAnyType, fid, key) !== undefined,
    /** Returns the first user who has this key on chain at their own request; undefined if no user has it now. */
    selfRequested: (key: Uint8Array): KeyFact | undefined => db.get(onChainBySelf, key),
    /**
     * Reports whether the network would refuse the key for a user at the request of an fid: the user has it on chain, or it is a gasless
     * key of another user or at another fid's request, expired or not.
     */
    isTaken(
      key: Uint8Array,
      { fid, requestFid }: { readonly fid: number; readonly requestFid: number },
    ): boolean {
      const holder = db.get(gaslessHolder, key);
      const isForeign = holder && (holder.fid !== fid || holder.requestFid !== requestFid);
      return isForeign === true || db.get(onChain, fid, key) !== undefined;
    },
    /** Returns the active public keys of a user, at most `limit`. */
    keysOf: (fid: number, nowSecs: number, limit: number): Uint8Array[] =>
      [...db.all(gaslessKeys, fid, nowSecs, limit), ...db.all(onChainKeys, fid, limit)]
        .slice(0, limit)
        .map(({ key }) => new Uint8Array(key)),
  };
}

const lastNonce = statement<{ nonce: number }, [fid: number, requestFid: number]>(
  "signers.key-nonce",
  "SELECT nonce FROM key_nonces WHERE fid = ? AND request_fid = ?",
);
const custodian = statement<{ fid: number }, [custody: Uint8Array]>(
  "signers.fid-of-custody",
  "SELECT fid FROM fids WHERE custody = ? ORDER BY fid LIMIT 1",
);

/** Index reads for gasless key operations. The last nonces are 0 before the first operation. */
export type KeyRegistry = ReturnType<typeof keyRegistryFromIndex>;

export function keyRegistryFromIndex(db: IndexDatabase) {
  return {
    /** Returns the last nonce that a user's custody address signed. */
    userNonce: (fid: number): number => db.get(lastNonce, fid, 0)?.nonce ?? 0,
    /** Returns the last nonce with which keys of an app removed themselves, over all users. */
    appNonce: (requestFid: number): number => db.get(lastNonce, 0, requestFid)?.nonce ?? 0,
    /** Returns the fid of a 20-byte custody address. */
    fidOfCustody: (custody: Uint8Array): number | undefined => db.get(custodian, custody)?.fid,
  };
}
