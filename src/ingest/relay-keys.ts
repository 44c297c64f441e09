import type { IndexDatabase } from "../index/database.ts";
import { statement } from "../index/statement.ts";

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
  ]
>(
  "relay-keys.put",
  `INSERT INTO gasless_keys (key, fid, request_fid, scopes, ttl_secs, added_at, last_used_at)
   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
   ON CONFLICT (key) DO UPDATE SET fid = ?2, request_fid = ?3, scopes = ?4, ttl_secs = ?5, added_at = ?6,
     last_used_at = max(last_used_at, ?7)`,
);
const dropKey = statement<unknown, [key: Uint8Array, fid: number]>(
  "relay-keys.drop",
  "DELETE FROM gasless_keys WHERE key = ? AND fid = ?",
);
const touchKey = statement<unknown, [key: Uint8Array, fid: number, usedAt: number]>(
  "relay-keys.touch",
  "UPDATE gasless_keys SET last_used_at = ?3 WHERE key = ?1 AND fid = ?2 AND last_used_at < ?3",
);
/** The gasless keys of an fid. */
export const keysOfFid = statement<{ key: Uint8Array }, [fid: number]>(
  "relay-keys.of-fid",
  "SELECT key FROM gasless_keys WHERE fid = ?",
);

/**
 * Holds a key as the followed node does. Its message is not kept, because that node does not give it to who asks for
 * the keys of an fid; nor are nonces, by which only the followed node judges.
 */
export function putRelayedKey(db: IndexDatabase, relayed: RelayedKey): void {
  const { key, fid, requestFid, scopes, ttlSecs, addedAt, lastUsedAt } = relayed;
  db.run(putKey, key, fid, requestFid, JSON.stringify(scopes), ttlSecs, addedAt, lastUsedAt);
}

export function dropRelayedKey(db: IndexDatabase, fid: number, key: Uint8Array): void {
  db.run(dropKey, key, fid);
}

/** A message that a gasless key signed lets it live another ttl. `usedAt`: unix seconds. */
export function touchRelayedKey(db: IndexDatabase, key: Uint8Array, fid: number, usedAt: number): void {
  db.run(touchKey, key, fid, usedAt);
}
