import type { IndexDatabase } from "../db/index/database.ts";
import { statement } from "../db/index/statement.ts";

const lastNonce = statement<{ nonce: number }, [fid: number, requestFid: number]>(
  "signers.key-nonce",
  "SELECT nonce FROM key_nonces WHERE fid = ? AND request_fid = ?",
);
const custodian = statement<{ fid: number }, [custody: Uint8Array]>(
  "signers.fid-of-custody",
  "SELECT fid FROM fids WHERE custody = ? ORDER BY fid LIMIT 1",
);

/** What gasless key operations need of the index. The last nonces are 0 before the first operation. */
export interface KeyRegistry {
  /** The last nonce that a user's custody address signed. */
  userNonce(fid: number): number;
  /** The last nonce with which keys of an app removed themselves, over all users. */
  appNonce(requestFid: number): number;
  /** The fid of a custody address of 20 bytes. */
  fidOfCustody(custody: Uint8Array): number | undefined;
}

export function keyRegistryFromIndex(db: IndexDatabase): KeyRegistry {
  return {
    userNonce: (fid) => db.get(lastNonce, fid, 0)?.nonce ?? 0,
    appNonce: (requestFid) => db.get(lastNonce, 0, requestFid)?.nonce ?? 0,
    fidOfCustody: (custody) => db.get(custodian, custody)?.fid,
  };
}
