import type { IndexDatabase } from "../db/index/database.ts";
import { deleteGaslessKey, findGaslessKey, type GaslessKey, putGaslessKey } from "./gasless-key-table.ts";
import { raiseAppNonce, raiseUserNonce } from "./key-nonces.ts";

/** How a key was removed: by the custody address of its fid with the user's nonce, or by itself with its app's nonce. */
export interface KeyRemoval {
  readonly by: "custody" | "itself";
  readonly nonce: number;
}

/** The last nonces of a user and of requesting apps, the latter over all users. */
export interface RelayedNonces {
  readonly fid: number;
  readonly userNonce: number;
  readonly apps: readonly { readonly requestFid: number; readonly nonce: number }[];
}

/**
 * Stores a key of the upstream, and the nonce of its user. Its message is not stored, because the upstream does not
 * include it in the list of an fid's keys.
 */
export function putRelayedKey(db: IndexDatabase, key: GaslessKey): void {
  putGaslessKey(db, key);
  raiseUserNonce(db, key.fid, key.nonce);
}

/**
 * Removes a key. A removal raises the nonce that it carried. A removal that is repeated finds no key, and leaves its app's
 * nonce as the first time set it.
 */
export function removeRelayedKey(
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

/** Raises nonces to those of the upstream. */
export function putRelayedNonces(db: IndexDatabase, { fid, userNonce, apps }: RelayedNonces): void {
  raiseUserNonce(db, fid, userNonce);
  for (const { requestFid, nonce } of apps) raiseAppNonce(db, requestFid, nonce);
}
