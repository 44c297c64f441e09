import type { IndexDatabase } from "../db/index/database.ts";
import { deleteGaslessKey, findGaslessKey, type GaslessKey, putGaslessKey } from "./gasless-key-table.ts";
import { raiseAppNonce, raiseUserNonce } from "./key-nonces.ts";

/** How a key was removed: by the custody address of its fid with the user's nonce, or by itself with its app's nonce. */
export interface KeyRemoval {
  readonly by: "custody" | "itself";
  readonly nonce: number;
}

/** The last nonces of a user and of requesting apps, the latter over all users. */
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
 * Removes a key. A removal raises the nonce that it carried. A removal that is repeated finds no key, and leaves its app's
 * nonce as the first time set it.
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
