import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";

/** A verification, addition or removal, as shard 0 decided it. */
export interface OwnerClaim {
  readonly fid: number;
  readonly address: Uint8Array;
  readonly isAdd: boolean;
  /** Farcaster seconds. */
  readonly timestamp: number;
  readonly hash: Uint8Array;
  /** The number of shard 0's event. */
  readonly seqnum: number;
}

const claimSeqnum = statement<{ seqnum: number }, [fid: number, address: Uint8Array]>(
  "owner-claims.seqnum",
  "SELECT seqnum FROM owner_claims WHERE fid = ? AND address = ?",
);
const putClaim = statement<
  unknown,
  [fid: number, address: Uint8Array, isAdd: number, timestamp: number, hash: Uint8Array, seqnum: number]
>(
  "owner-claims.put",
  `INSERT OR REPLACE INTO owner_claims (fid, address, is_add, timestamp, hash, seqnum) VALUES (?, ?, ?, ?, ?, ?)`,
);
const newestClaim = statement<{ fid: number }, [address: Uint8Array]>(
  "owner-claims.newest",
  `SELECT fid FROM owner_claims WHERE address = ? AND is_add = 1 ORDER BY timestamp DESC, hash DESC LIMIT 1`,
);

/** Returns the number of the event of an fid's last claim to an address. */
export function seqnumOfClaim(db: IndexDatabase, fid: number, address: Uint8Array): number | undefined {
  return db.get(claimSeqnum, fid, address)?.seqnum;
}

/** Stores the last claim of an fid to an address. An earlier one, applied again, changes nothing. Returns whether it did. */
export function putOwnerClaim(db: IndexDatabase, claim: OwnerClaim): boolean {
  const { fid, address, isAdd, timestamp, hash, seqnum } = claim;
  if ((seqnumOfClaim(db, fid, address) ?? -1) >= seqnum) return false;
  db.run(putClaim, fid, address, Number(isAdd), timestamp, hash, seqnum);
  return true;
}

/** Returns the fid that an address stands for: the one with the newest live verification on shard 0; 0 if none has. */
export function fidOfOwner(db: IndexDatabase, address: Uint8Array): number {
  return db.get(newestClaim, address)?.fid ?? 0;
}
