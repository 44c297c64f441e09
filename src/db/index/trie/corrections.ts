import { ACCOUNT_BYTES, MAX_KEY_BYTES, REST_START, type TrieKey } from "../../../trust/trie-key.ts";
import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";

const correctionOf = statement<{ present: number }, [shard: number, key: Uint8Array]>(
  "trie-corrections.get",
  "SELECT present FROM trie_corrections WHERE shard = ? AND key = ?",
);
const correctionsBetween = statement<
  { key: Uint8Array; present: number },
  [shard: number, from: Uint8Array, below: Uint8Array]
>(
  "trie-corrections.between",
  "SELECT key, present FROM trie_corrections WHERE shard = ? AND key >= ? AND key < ?",
);
const putCorrection = statement<unknown, [shard: number, key: Uint8Array, present: number]>(
  "trie-corrections.put",
  "INSERT OR REPLACE INTO trie_corrections (shard, key, present) VALUES (?, ?, ?)",
);
const dropCorrectionOf = statement<unknown, [shard: number, key: Uint8Array]>(
  "trie-corrections.drop",
  "DELETE FROM trie_corrections WHERE shard = ? AND key = ?",
);
const dropCorrectionsBetween = statement<unknown, [shard: number, from: Uint8Array, below: Uint8Array]>(
  "trie-corrections.drop-between",
  "DELETE FROM trie_corrections WHERE shard = ? AND key >= ? AND key < ?",
);
const nextCorrection = statement<{ key: Uint8Array }, [shard: number, from: Uint8Array]>(
  "trie-corrections.next",
  // A damaged key may lack its kind, or sort after all others.
  `SELECT key FROM trie_corrections WHERE shard = ? AND key >= ? AND length(key) BETWEEN ${REST_START} AND ${MAX_KEY_BYTES}
   ORDER BY key LIMIT 1`,
);
const presentCorrections = statement<{ count: number }, [shard: number]>(
  "trie-corrections.count",
  "SELECT count(*) AS count FROM trie_corrections WHERE shard = ? AND present = 1",
);
/** Returns whether a key is in a shard's trie if a correction says so; undefined if the rows decide. */
export function correction(db: IndexDatabase, shard: number, key: TrieKey): boolean | undefined {
  const row = db.get(correctionOf, shard, key);
  return row && row.present === 1;
}

/** Stores whether a key is in a shard's trie; undefined lets the rows decide. */
export function setCorrection(
  db: IndexDatabase,
  shard: number,
  key: TrieKey,
  isPresent: boolean | undefined,
): void {
  if (isPresent === undefined) db.run(dropCorrectionOf, shard, key);
  else db.run(putCorrection, shard, key, Number(isPresent));
}

/** Yields the corrected keys that start with `prefix`: an account, or an account and a kind. */
export function* correctionsBelow(
  db: IndexDatabase,
  shard: number,
  prefix: Uint8Array,
): Generator<{ readonly key: TrieKey; readonly isPresent: boolean }> {
  for (const { key, present } of db.iterate(correctionsBetween, shard, prefix, afterPrefix(prefix)))
    yield { key, isPresent: present === 1 };
}

/** Deletes the corrections of an account's kinds with a given high nibble. */
export function dropCorrectionsOfNibble(
  db: IndexDatabase,
  shard: number,
  account: Uint8Array,
  nibble: number,
): void {
  const from = Buffer.concat([account, Uint8Array.of(nibble << 4)]);
  const below =
    nibble === 15 ? afterPrefix(account) : Buffer.concat([account, Uint8Array.of((nibble + 1) << 4)]);
  db.run(dropCorrectionsBetween, shard, from, below);
}

/** Returns the kinds of an account with corrected keys, in ascending order. */
export function correctedKinds(db: IndexDatabase, shard: number, account: Uint8Array): number[] {
  const kinds: number[] = [];
  let from = account;
  for (;;) {
    const key = db.get(nextCorrection, shard, from)?.key;
    if (!key || Buffer.compare(key.subarray(0, ACCOUNT_BYTES), account) !== 0) return kinds;
    const kind = key[ACCOUNT_BYTES] as number;
    kinds.push(kind);
    if (kind === 255) return kinds;
    from = afterPrefix(key.subarray(0, REST_START));
  }
}

/** Yields the accounts with corrected keys in a shard. */
export function* correctedAccounts(db: IndexDatabase, shard: number): Generator<Uint8Array> {
  let from: Uint8Array = new Uint8Array();
  for (;;) {
    const key = db.get(nextCorrection, shard, from)?.key;
    if (!key) return;
    const account = key.slice(0, ACCOUNT_BYTES);
    yield account;
    from = afterPrefix(account);
  }
}

/** Returns the number of keys in the trie that no row of the index produces. */
export function foreignKeys(db: IndexDatabase, shard: number): number {
  return db.get(presentCorrections, shard)?.count ?? 0;
}

/** Returns the smallest byte string above all that start with `prefix`; one byte longer than any key if there is none. */
function afterPrefix(prefix: Uint8Array): Uint8Array {
  const end = Uint8Array.from(prefix);
  for (let at = end.length - 1; at >= 0; at--) {
    if (end[at] === 255) continue;
    end[at] = (end[at] as number) + 1;
    return end.subarray(0, at + 1);
  }
  return new Uint8Array(65).fill(255);
}
