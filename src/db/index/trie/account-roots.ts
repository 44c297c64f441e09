import type { KindRoot } from "../../../trust/trie.ts";
import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";

/** The computed root of an account in a shard. */
export interface StoredAccount {
  readonly account: Uint8Array;
  readonly root: Uint8Array;
  /** See `decodeKinds`. */
  readonly kinds: Uint8Array;
  /** The root that a transaction of the network names, where it is another one. */
  readonly claimed: Uint8Array | null;
}

const COLUMNS = "account, root, kinds, claimed";

const accountRow = statement<StoredAccount, [shard: number, account: Uint8Array]>(
  "trie-accounts.get",
  `SELECT ${COLUMNS} FROM trie_accounts WHERE shard = ? AND account = ?`,
);
const accountsAfter = statement<StoredAccount, [shard: number, account: Uint8Array, limit: number]>(
  "trie-accounts.after",
  `SELECT ${COLUMNS} FROM trie_accounts WHERE shard = ? AND account > ? ORDER BY account LIMIT ?`,
);

export function storedAccount(
  db: IndexDatabase,
  shard: number,
  account: Uint8Array,
): StoredAccount | undefined {
  return db.get(accountRow, shard, account);
}

/** Returns the next accounts of a shard after `account`. */
export function storedAccountsAfter(
  db: IndexDatabase,
  shard: number,
  account: Uint8Array,
  limit: number,
): StoredAccount[] {
  return db.all(accountsAfter, shard, account, limit);
}

/** A kind, the number of its keys, the root of its subtree. */
const KIND_BYTES = 25;
const ROOT_START = 5;

export function decodeKinds(bytes: Uint8Array): KindRoot[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.length / KIND_BYTES }, (_, index) => {
    const at = index * KIND_BYTES;
    return {
      kind: view.getUint8(at),
      keys: view.getUint32(at + 1),
      root: bytes.subarray(at + ROOT_START, at + KIND_BYTES),
    };
  });
}

/** A kind of an account whose root is out of date. */
export interface DirtyKind {
  readonly account: Uint8Array;
  readonly kind: number;
}

const dirtyFrom = statement<DirtyKind, [shard: number, account: Uint8Array, limit: number]>(
  "trie-dirty.from",
  "SELECT account, kind FROM trie_dirty WHERE shard = ? AND account >= ? ORDER BY account, kind LIMIT ?",
);
const dirtyKinds = statement<{ count: number }, [shard: number]>(
  "trie-dirty.count",
  "SELECT count(*) AS count FROM trie_dirty WHERE shard = ?",
);

/** Returns kinds that are out of date, in the order of their accounts from `account` on. */
export function dirtyKindsFrom(
  db: IndexDatabase,
  shard: number,
  account: Uint8Array,
  limit: number,
): DirtyKind[] {
  return db.all(dirtyFrom, shard, account, limit);
}

export function countDirty(db: IndexDatabase, shard: number): number {
  return db.get(dirtyKinds, shard)?.count ?? 0;
}
