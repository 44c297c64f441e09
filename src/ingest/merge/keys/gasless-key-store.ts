import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";

/** A gasless key. Times are in Unix seconds. */
export interface GaslessKey {
  readonly key: Uint8Array;
  readonly fid: number;
  /** The app that requested it. */
  readonly requestFid: number;
  /** Numbers of the message types that it may sign. */
  readonly scopes: readonly number[];
  /** The key expires when it has not been used for this long. */
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
/** Returns the nonce of the KEY_ADD of a user's gasless key, 0 if it is not known; undefined if the key does not exist. */
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

/** Stores a key. If it is already stored, the later of both last uses counts. */
function putGaslessKey(db: IndexDatabase, gaslessKey: GaslessKey): void {
  const { key, fid, requestFid, scopes, ttlSecs, addedAt, lastUsedAt, nonce } = gaslessKey;
  db.run(putKey, key, fid, requestFid, JSON.stringify(scopes), ttlSecs, addedAt, lastUsedAt, nonce);
}

/** Deletes a key if it belongs to `fid`. */
export function deleteGaslessKey(db: IndexDatabase, key: Uint8Array, fid: number): void {
  db.run(deleteKey, key, fid);
}

/** Records a use. As on the reference node, the last use advances in steps of more than 300 seconds. */
export function touchGaslessKey(db: IndexDatabase, key: Uint8Array, fid: number, usedAt: number): void {
  db.run(touchKey, key, fid, usedAt);
}

/** How a key was removed: by the custody address of its fid with the user's nonce, or by itself with its app's nonce. */
export interface KeyRemoval {
  readonly by: "custody" | "itself";
  readonly nonce: number;
}

/** The last nonces of a user, and of requesting apps across all users. */
export interface KeyNonces {
  readonly fid: number;
  readonly userNonce: number;
  readonly apps: readonly { readonly requestFid: number; readonly nonce: number }[];
}

/** Stores a key and the nonce of its user. */
export function storeGaslessKey(db: IndexDatabase, key: GaslessKey): void {
  putGaslessKey(db, key);
  raiseUserNonce(db, key.fid, key.nonce);
}

/**
 * Removes a key, and raises the last nonce of the user or the app to that of the removal. A repeated removal finds no key, so
 * it leaves its app's nonce unchanged.
 */
export function removeGaslessKey(
  db: IndexDatabase,
  fid: number,
  key: Uint8Array,
  removal?: KeyRemoval,
): void {
  if (removal?.by === "custody") raiseUserNonce(db, fid, removal.nonce);
  const removed = removal?.by === "itself" ? findGaslessKey(db, key) : undefined;
  if (removal && removed?.fid === fid) raiseAppNonce(db, removed.requestFid, removal.nonce);
  deleteGaslessKey(db, key, fid);
}

/** Raises the nonces of a user and of apps. */
export function raiseNonces(db: IndexDatabase, { fid, userNonce, apps }: KeyNonces): void {
  raiseUserNonce(db, fid, userNonce);
  for (const { requestFid, nonce } of apps) raiseAppNonce(db, requestFid, nonce);
}

/** The value of the column that a nonce does not use. No user and no app has fid 0. */
const NO_FID = 0;

const lastNonce = statement<{ nonce: number }, [fid: number, requestFid: number]>(
  "key-nonces.last",
  "SELECT nonce FROM key_nonces WHERE fid = ? AND request_fid = ?",
);
const raiseNonce = statement<unknown, [fid: number, requestFid: number, nonce: number]>(
  "key-nonces.raise",
  `INSERT INTO key_nonces (fid, request_fid, nonce) VALUES (?1, ?2, ?3)
   ON CONFLICT (fid, request_fid) DO UPDATE SET nonce = max(nonce, ?3)`,
);

const deleteNonce = statement<unknown, [fid: number, requestFid: number]>(
  "key-nonces.delete",
  "DELETE FROM key_nonces WHERE fid = ? AND request_fid = ?",
);
const appsWithNonce = statement<{ fid: number }, [noFid: number]>(
  "key-nonces.apps",
  "SELECT request_fid AS fid FROM key_nonces WHERE fid = ?",
);

/** Returns the last nonce of the key operations that a user's custody address signed; 0 before the first. */
export function userNonce(db: IndexDatabase, fid: number): number {
  return db.get(lastNonce, fid, NO_FID)?.nonce ?? 0;
}

/** Returns the last nonce with which keys of an app removed themselves, across all users; 0 before the first. */
export function appNonce(db: IndexDatabase, requestFid: number): number {
  return db.get(lastNonce, NO_FID, requestFid)?.nonce ?? 0;
}

/** Raises a user's nonce. A lower nonce changes nothing, so a repeated operation is harmless. */
function raiseUserNonce(db: IndexDatabase, fid: number, nonce: number): void {
  if (nonce > 0) db.run(raiseNonce, fid, NO_FID, nonce);
}

/** Raises an app's nonce; a lower one changes nothing. */
function raiseAppNonce(db: IndexDatabase, requestFid: number, nonce: number): void {
  if (nonce > 0) db.run(raiseNonce, NO_FID, requestFid, nonce);
}

/** Returns the apps that have a nonce. */
export function requestersWithNonce(db: IndexDatabase): number[] {
  return db.all(appsWithNonce, NO_FID).map(({ fid }) => fid);
}

/** Deletes the nonce of a user whose keys are no longer stored. */
export function deleteUserNonce(db: IndexDatabase, fid: number): void {
  db.run(deleteNonce, fid, NO_FID);
}

/** Deletes the nonce of an app that requested no stored key. */
export function deleteAppNonce(db: IndexDatabase, requestFid: number): void {
  db.run(deleteNonce, NO_FID, requestFid);
}
