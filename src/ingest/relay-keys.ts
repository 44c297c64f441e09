import type { IndexDatabase } from "../db/index/database.ts";
import { statement } from "../db/index/statement.ts";
import { raiseAppNonce, raiseUserNonce } from "./key-nonces.ts";

/** A gasless key as the followed node holds it. Times count unix seconds. */
export interface RelayedKey {
  readonly key: Uint8Array;
  readonly fid: number;
  readonly requestFid: number;
  /** Message type numbers. */
  readonly scopes: readonly number[];
  readonly ttlSecs: number;
  readonly addedAt: number;
  readonly lastUsedAt: number;
  /** The user nonce of its KEY_ADD; 0 where it is not known. */
  readonly nonce: number;
}

/** How a key was taken away: by the custody of its fid, with the user's nonce, or by itself, with its app's. */
export interface KeyRemoval {
  readonly by: "custody" | "itself";
  readonly nonce: number;
}

/** The last nonces of a user, and of requesting apps over all users. */
export interface RelayedNonces {
  readonly fid: number;
  readonly userNonce: number;
  readonly apps: readonly { readonly requestFid: number; readonly nonce: number }[];
}

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
  "relay-keys.put",
  `INSERT INTO gasless_keys (key, fid, request_fid, scopes, ttl_secs, added_at, last_used_at, nonce)
   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
   ON CONFLICT (key) DO UPDATE SET fid = ?2, request_fid = ?3, scopes = ?4, ttl_secs = ?5, added_at = ?6,
     last_used_at = max(last_used_at, ?7), nonce = ?8`,
);
const dropKey = statement<unknown, [key: Uint8Array, fid: number]>(
  "relay-keys.drop",
  "DELETE FROM gasless_keys WHERE key = ? AND fid = ?",
);
const requesterOf = statement<{ requestFid: number }, [key: Uint8Array, fid: number]>(
  "relay-keys.requester-of",
  "SELECT request_fid AS requestFid FROM gasless_keys WHERE key = ? AND fid = ?",
);
/** The gasless keys of an fid. */
export const keysOfFid = statement<{ key: Uint8Array; requestFid: number }, [fid: number]>(
  "relay-keys.of-fid",
  "SELECT key, request_fid AS requestFid FROM gasless_keys WHERE fid = ?",
);

/**
 * Holds a key as the followed node does, and the nonce of its user. Its message is not kept, because that node does not
 * give it to who asks for the keys of an fid.
 */
export function putRelayedKey(db: IndexDatabase, relayed: RelayedKey): void {
  const { key, fid, requestFid, scopes, ttlSecs, addedAt, lastUsedAt, nonce } = relayed;
  db.run(putKey, key, fid, requestFid, JSON.stringify(scopes), ttlSecs, addedAt, lastUsedAt, nonce);
  raiseUserNonce(db, fid, nonce);
}

/**
 * Lets go of a key. A removal raises the nonce that it carried; one that is relayed a second time finds no key any more,
 * and its app's nonce where the first time left it.
 */
export function dropRelayedKey(db: IndexDatabase, fid: number, key: Uint8Array, removal?: KeyRemoval): void {
  if (removal?.by === "custody") raiseUserNonce(db, fid, removal.nonce);
  const requester = removal?.by === "itself" ? db.get(requesterOf, key, fid) : undefined;
  if (requester && removal) raiseAppNonce(db, requester.requestFid, removal.nonce);
  db.run(dropKey, key, fid);
}

/** Holds nonces as the followed node tells them. */
export function putRelayedNonces(db: IndexDatabase, { fid, userNonce, apps }: RelayedNonces): void {
  raiseUserNonce(db, fid, userNonce);
  for (const { requestFid, nonce } of apps) raiseAppNonce(db, requestFid, nonce);
}
