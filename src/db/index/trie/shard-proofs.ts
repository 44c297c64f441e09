import type { IndexDatabase } from "../database.ts";
import { getPosition, putPosition } from "../positions.ts";
import { statement } from "../statement.ts";

/** Result of comparing the computed root of a shard with the one that the network's validators signed. */
export interface ShardProof {
  /** The newest block whose signed root equals the computed one; null before the first. */
  readonly provenHeight: number | null;
  /** Unix seconds. */
  readonly provenAt: number | null;
  /** The first block of the current mismatch; null without one. */
  readonly mismatchHeight: number | null;
  /** How many mismatches have started. */
  readonly mismatches: number;
}

const proofOf = statement<ShardProof, [shard: number]>(
  "trie-shards.get",
  `SELECT proven_height AS provenHeight, proven_at AS provenAt, mismatch_height AS mismatchHeight, mismatches
   FROM trie_shards WHERE shard = ?`,
);
const putProof = statement<
  unknown,
  [
    shard: number,
    provenHeight: number | null,
    provenAt: number | null,
    mismatchHeight: number | null,
    mismatches: number,
  ]
>(
  "trie-shards.put",
  `INSERT OR REPLACE INTO trie_shards (shard, proven_height, proven_at, mismatch_height, mismatches)
   VALUES (?, ?, ?, ?, ?)`,
);

const NOTHING_PROVEN: ShardProof = {
  provenHeight: null,
  provenAt: null,
  mismatchHeight: null,
  mismatches: 0,
};

export function shardProof(db: IndexDatabase, shard: number): ShardProof {
  return db.get(proofOf, shard) ?? NOTHING_PROVEN;
}

export function putShardProof(db: IndexDatabase, shard: number, proof: ShardProof): void {
  const { provenHeight, provenAt, mismatchHeight, mismatches } = proof;
  db.run(putProof, shard, provenHeight, provenAt, mismatchHeight, mismatches);
}

/** Key of the last fid whose accounts have roots, while the roots are computed for the first time. */
const COMPUTED = "trie computed";
/** Larger than any fid: the roots of all accounts are stored. */
const ALL = Number.MAX_SAFE_INTEGER;

/** Reports whether the roots of all accounts are stored, except those marked as out of date. */
export function areRootsKept(db: IndexDatabase): boolean {
  return getPosition(db, COMPUTED) === ALL;
}

/** Returns the last fid up to which all accounts have roots; -1 before the first. */
export function rootsComputedUpTo(db: IndexDatabase): number {
  return getPosition(db, COMPUTED) ?? -1;
}

/**
 * Records that the accounts up to an fid have roots.
 *
 * @param fid undefined once all accounts have roots.
 */
export function setRootsComputed(db: IndexDatabase, fid: number | undefined): void {
  putPosition(db, COMPUTED, fid ?? ALL);
}

/** Reports whether roots of accounts are stored or being computed. */
export function hasStoredRoots(db: IndexDatabase): boolean {
  return getPosition(db, COMPUTED) !== undefined;
}

const dropPositionOf = statement<unknown, [key: string]>(
  "trie-shards.drop-position",
  "DELETE FROM positions WHERE key = ?",
);
const clearAccounts = statement<unknown>(
  "trie-shards.clear-accounts",
  "DELETE FROM trie_accounts WHERE shard > 0",
);
/** Keeps the opaque children that have changed, which must be read again. */
const clearDirty = statement<unknown>(
  "trie-shards.clear-dirty",
  `DELETE FROM trie_dirty WHERE shard > 0 AND NOT EXISTS (SELECT 1 FROM trie_opaque o
     WHERE o.shard = trie_dirty.shard AND o.account = trie_dirty.account AND o.nibble = trie_dirty.kind >> 4)`,
);
const clearProofs = statement<unknown>("trie-shards.clear", "DELETE FROM trie_shards WHERE shard > 0");

/** Deletes the roots and stops maintaining them. They are computed again if that is resumed. */
export function forgetRoots(db: IndexDatabase): void {
  db.run(clearAccounts);
  db.run(clearDirty);
  db.run(clearProofs);
  db.run(dropPositionOf, COMPUTED);
}
