import type { IndexDatabase } from "../db/index/database.ts";
import { statement } from "../db/index/statement.ts";

/** A gasless key. Times are in unix seconds. */
export interface GaslessKey {
  readonly key: Uint8Array;
  readonly fid: number;
  /** The app that requested it. */
  readonly requestFid: number;
  /** Numbers of the message types that it may sign. */
  readonly scopes: readonly number[];
  /** The key expires when it was not used for so long. */
  readonly ttlSecs: number;
  readonly addedAt: number;
  readonly lastUsedAt: number;
  /** The user nonce of its KEY_ADD; 0 if it is not known. */
  readonly nonce: number;
}

/** The columns that decide whether a key may sign. `scopes` is JSON. */
export type KeyRow = Omit<GaslessKey, "key" | "scopes" | "addedAt" | "nonce"> & { readonly scopes: string };

const keyRow = statement<KeyRow, [key: Uint8Array]>(
  "gasless-keys.by-key",
  `SELECT fid, request_fid AS requestFid, scopes, ttl_secs AS ttlSecs, last_used_at AS lastUsedAt
   FROM gasless_keys WHERE key = ?`,
);
const keysOf = statement<{ key: Uint8Array; requestFid: number }, [fid: number]>(
  "gasless-keys.of-fid",
  "SELECT key, request_fid AS requestFid FROM gasless_keys WHERE fid = ?",
);
const nonceOf = statement<{ nonce: number }, [key: Uint8Array, fid: number]>(
  "gasless-keys.nonce",
  "SELECT nonce FROM gasless_keys WHERE key = ? AND fid = ?",
);
const putKey = statement<
  unknown,
  [
    key: Uint8Array,
    fid: number,
    requestFid: number,
    scopes: string,
    ttlSecs: number,
    addedAt: number,
    lastUsedAt: number,
    nonce: number,
  ]
>(
  "gasless-keys.put",
  `INSERT INTO gasless_keys (key, fid, request_fid, scopes, ttl_secs, added_at, last_used_at, nonce)
   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
   ON CONFLICT (key) DO UPDATE SET fid = ?2, request_fid = ?3, scopes = ?4, ttl_secs = ?5, added_at = ?6,
     last_used_at = max(last_used_at, ?7), nonce = ?8`,
);
const deleteKey = statement<unknown, [key: Uint8Array, fid: number]>(
  "gasless-keys.delete",
  "DELETE FROM gasless_keys WHERE key = ? AND fid = ?",
);
/** The nonce of the KEY_ADD of a user's gasless key, 0 if it is not known; undefined without that key. */
export function gaslessKeyNonce(db: IndexDatabase, key: Uint8Array, fid: number): number | undefined {
  return db.get(nonceOf, key, fid)?.nonce;
}

const USE_STEP_SECS = 300;
const touchKey = statement<unknown, [key: Uint8Array, fid: number, usedAt: number]>(
  "gasless-keys.touch",
  `UPDATE gasless_keys SET last_used_at = ?3
   WHERE key = ?1 AND fid = ?2 AND last_used_at + ${USE_STEP_SECS} < ?3`,
);

export function findGaslessKey(db: IndexDatabase, key: Uint8Array): KeyRow | undefined {
  return db.get(keyRow, key);
}

export function gaslessKeysOf(db: IndexDatabase, fid: number): Pick<GaslessKey, "key" | "requestFid">[] {
  return db.all(keysOf, fid);
}

/** Stores a key. If it is stored already, the later of both last uses counts. */
export function putGaslessKey(db: IndexDatabase, gaslessKey: GaslessKey): void {
  const { key, fid, requestFid, scopes, ttlSecs, addedAt, lastUsedAt, nonce } = gaslessKey;
  db.run(putKey, key, fid, requestFid, JSON.stringify(scopes), ttlSecs, addedAt, lastUsedAt, nonce);
}

/** Deletes a key if it belongs to `fid`. */
export function deleteGaslessKey(db: IndexDatabase, key: Uint8Array, fid: number): void {
  db.run(deleteKey, key, fid);
}

/** Records a use. As on the reference node, the last use moves in steps of more than 300 seconds. */
export function touchGaslessKey(db: IndexDatabase, key: Uint8Array, fid: number, usedAt: number): void {
  db.run(touchKey, key, fid, usedAt);
}
