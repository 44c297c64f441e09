import type { IndexDatabase } from "../db/index/database.ts";
import { statement } from "../db/index/statement.ts";

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

/** Returns the last nonce with which keys of an app removed themselves, over all users; 0 before the first. */
export function appNonce(db: IndexDatabase, requestFid: number): number {
  return db.get(lastNonce, NO_FID, requestFid)?.nonce ?? 0;
}

/** Raises a user's nonce. A lower nonce changes nothing, so a repeated operation is harmless. */
export function raiseUserNonce(db: IndexDatabase, fid: number, nonce: number): void {
  if (nonce > 0) db.run(raiseNonce, fid, NO_FID, nonce);
}

/** Raises an app's nonce; a lower one changes nothing. */
export function raiseAppNonce(db: IndexDatabase, requestFid: number, nonce: number): void {
  if (nonce > 0) db.run(raiseNonce, NO_FID, requestFid, nonce);
}

/** Returns the apps with a nonce. */
export function requestersWithNonce(db: IndexDatabase): number[] {
  return db.all(appsWithNonce, NO_FID).map(({ fid }) => fid);
}

/** Forgets the nonce of a user whose keys are no longer stored. */
export function deleteUserNonce(db: IndexDatabase, fid: number): void {
  db.run(deleteNonce, fid, NO_FID);
}

/** Forgets the nonce of an app that requested no stored key. */
export function deleteAppNonce(db: IndexDatabase, requestFid: number): void {
  db.run(deleteNonce, NO_FID, requestFid);
}
