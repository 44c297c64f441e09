import type { IndexDatabase } from "../database.ts";
import { getPosition, putPosition } from "../positions.ts";
import { statement } from "../statement.ts";

/**
 * Whether the index knows every key of the network's tries: by its rows, the corrections and the opaque children. It does after a fill
 * from snapshots, and after following from the first block. A fill that reads fid by fid does not get all keys.
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
 * Returns the block of a data shard from which on its keys are known: that of the newest snapshot of which accounts were read, because
 * earlier blocks lead to a mixture of states. Undefined where they are not known.
 */
export function keysKnownFrom(db: IndexDatabase, shard: number): number | undefined {
  return getPosition(db, FROM + shard);
}

/** Whether the keys of all data shards are known. */
export function areKeysKnown(db: IndexDatabase): boolean {
  return keysKnownFrom(db, 1) !== undefined;
}

export function setKeysKnown(db: IndexDatabase, shard: number, from: number): void {
  putPosition(db, FROM + shard, from);
}

/** The index is filled in another way, or follows blocks that are not verified: its keys are no longer known. */
export function forgetKnownKeys(db: IndexDatabase): void {
  db.run(dropFrom, FROM, `${FROM}\uffff`);
}

/** Deletes what an unfinished fill of an empty index has left. */
export function clearKeys(db: IndexDatabase): void {
  db.run(clearCorrections);
  db.run(clearKeyAdds);
  db.run(clearOpaque);
}
