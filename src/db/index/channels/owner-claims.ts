import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";

/** A verification, added or removed, as shard 0 decided it. */
export interface OwnerClaim {
  readonly fid: number;
  readonly address: Uint8Array;
  readonly isAdd: boolean;
  /** Farcaster seconds. */
  readonly timestamp: number;
  readonly hash: Uint8Array;
  /** Number of shard 0's event. */
  readonly seqnum: number;
}

const claimOf = statement<{ seqnum: number; hash: Uint8Array }, [fid: number, address: Uint8Array]>(
  "owner-claims.of",
  "SELECT seqnum, hash FROM owner_claims WHERE fid = ? AND address = ?",
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
  `SELECT fid FROM owner_claims WHERE address = ? AND is_add = 1 ORDER BY timestamp DESC, hash DESC, fid LIMIT 1`,
);

const newestDecision = statement<{ seqnum: number | null }, [address: Uint8Array]>(
  "owner-claims.newest-decision",
  "SELECT max(seqnum) AS seqnum FROM owner_claims WHERE address = ?",
);
const decidedAfter = statement<{ address: Uint8Array }, [fid: number, seqnum: number]>(
  "owner-claims.decided-after",
  "SELECT address FROM owner_claims WHERE fid = ? AND seqnum > ?",
);

const undecided = statement<{ timestamp: number | null }, [address: Uint8Array, below: number]>(
  "owner-claims.newest-undecided",
  "SELECT max(timestamp) AS timestamp FROM owner_claims WHERE address = ? AND is_add = 1 AND seqnum < ?",
);
const dropUndecided = statement<unknown, [address: Uint8Array, below: number]>(
  "owner-claims.drop-undecided",
  "DELETE FROM owner_claims WHERE address = ? AND seqnum < ?",
);
const dropForgotten = statement(
  "owner-claims.drop-forgotten",
  "DELETE FROM owner_claims WHERE fid >= 0 AND seqnum < 0",
);
const verificationsFrom = statement<
  { fid: number; address: Uint8Array; timestamp: number },
  [fid: number, address: Uint8Array, limit: number]
>(
  "owner-claims.verifications",
  `SELECT fid, address, timestamp FROM verifications WHERE (fid, address) > (?, ?) ORDER BY fid, address LIMIT ?`,
);

/**
 * Stands in for the event number of a claim that the upstream reported without a decision: lower than that of any decision.
 */
const REPORTED = 0;
const REPORTED_OWNER = 1;
const NO_HASH = new Uint8Array(20);
const LAST_HASH = new Uint8Array(20).fill(0xff);

/** Returns the next live verifications, ordered by fid and address, with their times in Unix seconds. */
export function verificationsAfter(
  db: IndexDatabase,
  { fid, address }: { readonly fid: number; readonly address: Uint8Array },
  limit: number,
): { readonly fid: number; readonly address: Uint8Array; readonly timestamp: number }[] {
  return db.all(verificationsFrom, fid, address, limit);
}

/** Stores the claim of a live verification unless a decision about it is known. `timestamp` is in Farcaster seconds. */
export function putReportedClaim(
  db: IndexDatabase,
  claim: Pick<OwnerClaim, "fid" | "address" | "timestamp">,
): void {
  putOwnerClaim(db, { ...claim, isAdd: true, hash: NO_HASH, seqnum: REPORTED });
}

/**
 * Stores the owner of an address as the upstream reports it. The home shard of that fid may have pruned the verification, so
 * the fid takes precedence over all claims without a known decision. Decisions take precedence over it.
 *
 * @param fid 0 while the address has none.
 */
export function putReportedOwner(db: IndexDatabase, address: Uint8Array, fid: number): void {
  db.run(dropUndecided, address, fid === 0 ? REPORTED_OWNER + 1 : REPORTED);
  if (fid === 0) return;
  const timestamp = db.get(undecided, address, REPORTED_OWNER + 1)?.timestamp ?? 0;
  putOwnerClaim(db, { fid, address, isAdd: true, timestamp, hash: LAST_HASH, seqnum: REPORTED_OWNER });
}

/** Drops the claims that were marked by `forgetDecisions` and have not been read again since. */
export function dropForgottenClaims(db: IndexDatabase): void {
  db.run(dropForgotten);
}

/** Reports whether a claim to an address was decided after event `seqnum` of shard 0. */
export function claimsInTransit(db: IndexDatabase, address: Uint8Array, seqnum: number): boolean {
  return (db.get(newestDecision, address)?.seqnum ?? 0) > seqnum;
}

/** Returns the addresses of an fid's claims that were decided after event `seqnum` of shard 0. */
export function addressesInTransit(db: IndexDatabase, fid: number, seqnum: number): Uint8Array[] {
  return db.all(decidedAfter, fid, Math.min(seqnum, Number.MAX_SAFE_INTEGER)).map(({ address }) => address);
}

/** Returns the event number of an fid's last claim to an address. */
export function seqnumOfClaim(db: IndexDatabase, fid: number, address: Uint8Array): number | undefined {
  return db.get(claimOf, fid, address)?.seqnum;
}

/**
 * Reports whether shard 0's last decision about an address of an fid is a verification other than the one with `hash`. That
 * one is then an earlier decision or older than engine V21, or its own decision has not arrived yet.
 */
export function isDecidedOtherwise(
  db: IndexDatabase,
  { fid, address, hash }: Pick<OwnerClaim, "fid" | "address" | "hash">,
): boolean {
  const claim = db.get(claimOf, fid, address);
  return claim !== undefined && claim.seqnum > REPORTED_OWNER && Buffer.compare(claim.hash, hash) !== 0;
}

/** Reports whether the verification with `hash` is shard 0's last decision about an address of an fid. */
export function isLastClaim(
  db: IndexDatabase,
  { fid, address, hash }: Pick<OwnerClaim, "fid" | "address" | "hash">,
): boolean {
  const claim = db.get(claimOf, fid, address);
  return claim !== undefined && Buffer.compare(claim.hash, hash) === 0;
}

/**
 * Stores the last claim of an fid to an address. Applying an earlier claim again changes nothing. Returns whether the claim
 * was stored.
 */
export function putOwnerClaim(db: IndexDatabase, claim: OwnerClaim): boolean {
  const { fid, address, isAdd, timestamp, hash, seqnum } = claim;
  if ((seqnumOfClaim(db, fid, address) ?? -1) >= seqnum) return false;
  db.run(putClaim, fid, address, Number(isAdd), timestamp, hash, seqnum);
  return true;
}

/** Returns the fid that an address stands for: the one with the newest live verification on shard 0; 0 if none has one. */
export function fidOfOwner(db: IndexDatabase, address: Uint8Array): number {
  return db.get(newestClaim, address)?.fid ?? 0;
}
