import type { IndexDatabase } from "../db/index/database.ts";
import { statement } from "../db/index/statement.ts";
import { KEY_TYPE_ED25519 } from "../protocol/validate/gasless-key.ts";
import { SignerEventType } from "../protocol/wire/generated/on-chain.ts";

/** A key that may currently sign for a user. */
export interface ActiveKey {
  /** The fid of the app that requested the key; 0 if the key's metadata names none. */
  readonly requestFid: number;
}

/** Looks up the Ed25519 key `key` (32 bytes) of `fid`; undefined unless it is active. */
export type ActiveKeyOf = (fid: number, key: Uint8Array, nowSecs: number) => ActiveKey | undefined;

const onChainKey = statement<ActiveKey, [fid: number, key: Uint8Array]>(
  "auth.on-chain-key",
  `SELECT request_fid AS requestFid FROM signers
   WHERE fid = ? AND key = ? AND key_type = ${KEY_TYPE_ED25519}
     AND state = ${SignerEventType.SIGNER_EVENT_TYPE_ADD}`,
);
const gaslessKey = statement<ActiveKey, [key: Uint8Array, fid: number, nowSecs: number]>(
  "auth.gasless-key",
  `SELECT request_fid AS requestFid FROM gasless_keys
   WHERE key = ? AND fid = ? AND last_used_at + ttl_secs >= ?`,
);

/**
 * Looks keys up in the index at every call. A key is active if it is an on-chain key whose latest event is its add,
 * or a gasless key whose ttl has not expired. Unlike in ingest, a key that the registry's admin reset is not active:
 * nothing here has to agree with other nodes.
 */
export function activeKeysFromIndex(db: IndexDatabase): ActiveKeyOf {
  return (fid, key, nowSecs) => db.get(onChainKey, fid, key) ?? db.get(gaslessKey, key, fid, nowSecs);
}
