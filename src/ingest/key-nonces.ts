import type { IndexDatabase } from "../db/index/database.ts";
import { statement } from "../db/index/statement.ts";

/** The column that a nonce does not need: no user and no app has fid 0. */
const NOBODY = 0;

const lastNonce = statement<{ nonce: number }, [fid: number, requestFid: number]>(
  "key-nonces.last",
  "SELECT nonce FROM key_nonces WHERE fid = ? AND request_fid = ?",
);
const raiseNonce = statement<unknown, [fid: number, requestFid: number, nonce: number]>(
  "key-nonces.raise",
  `INSERT INTO key_nonces (fid, request_fid, nonce) VALUES (?1, ?2, ?3)
   ON CONFLICT (fid, request_fid) DO UPDATE SET nonce = max(nonce, ?3)`,
);

/** The last nonce of a user's custody over gasless keys; 0 before the first. */
export function userNonce(db: IndexDatabase, fid: number): number {
  return db.get(lastNonce, fid, NOBODY)?.nonce ?? 0;
}

/** The last nonce with which keys of an app removed themselves, counted over all users; 0 before the first. */
export function appNonce(db: IndexDatabase, requestFid: number): number {
  return db.get(lastNonce, NOBODY, requestFid)?.nonce ?? 0;
}

/** Raises a user's nonce; a lower one changes nothing, so that what is relayed twice does no harm. */
export function raiseUserNonce(db: IndexDatabase, fid: number, nonce: number): void {
  if (nonce > 0) db.run(raiseNonce, fid, NOBODY, nonce);
}

/** Raises an app's nonce; a lower one changes nothing. */
export function raiseAppNonce(db: IndexDatabase, requestFid: number, nonce: number): void {
  if (nonce > 0) db.run(raiseNonce, NOBODY, requestFid, nonce);
}
