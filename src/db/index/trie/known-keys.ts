import type { IndexDatabase } from "../database.ts";
import { getPosition, putPosition } from "../positions.ts";
import { statement } from "../statement.ts";

/**
 * Records whether the index knows every key of the network's tries through its rows, the corrections and the opaque
 * children. That is so after a fill from snapshots, and after following from the first block. A fill that reads fid by fid
 * does not get all keys.
 */

const FROM = "trie keys of shard ";

const dropFrom = statement<unknown, [from: string, to: string]>(
  "known-keys.drop",
  "DELETE FROM positions WHERE key >= ? AND key < ?",
);
const clearCorrections = statement<unknown>(
  "known-keys.clear-corrections",
  "DELETE FROM trie_corrections WHERE shard >= 0",
);
const clearKeyAdds = statement<unknown>(
  "known-keys.clear-key-adds",
  "DELETE FROM trie_key_adds WHERE fid >= 0",
);
const clearOpaque = statement<unknown>("known-keys.clear-opaque", "DELETE FROM trie_opaque WHERE shard >= 0");

/**
 * Returns the block of a data shard from which its keys are known: that of the newest snapshot from which accounts were
 * read, because earlier blocks would lead to a mixture of states. Undefined if they are not known.
 */
export function keysKnownFrom(db: IndexDatabase, shard: number): number | undefined {
  return getPosition(db, FROM + shard);
}

/** Reports whether the keys of all data shards are known. */
export function areKeysKnown(db: IndexDatabase): boolean {
  return keysKnownFrom(db, 1) !== undefined;
}

export function setKeysKnown(db: IndexDatabase, shard: number, from: number): void {
  putPosition(db, FROM + shard, from);
}

/**
 * Records that the keys are no longer known, because the index is filled in another way or follows blocks that are not
 * verified.
 */
export function forgetKnownKeys(db: IndexDatabase): void {
  db.run(dropFrom, FROM, `${FROM}\uffff`);
}

/** Deletes the keys left by an unfinished fill of an empty index. */
export function clearKeys(db: IndexDatabase): void {
  db.run(clearCorrections);
  db.run(clearKeyAdds);
  db.run(clearOpaque);
}
