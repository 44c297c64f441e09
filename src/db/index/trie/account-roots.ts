import { TRIE_HASH_BYTES } from "../../../protocol/message/message-hash.ts";
import type { AccountRoot, KindRoot } from "../../../trust/trie/trie.ts";
import { ACCOUNT_BYTES } from "../../../trust/trie-key.ts";
import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";

/** The computed root of an account in a shard. */
export interface StoredAccount {
  readonly account: Uint8Array;
  readonly root: Uint8Array;
  /** See `decodeKinds`. */
  readonly kinds: Uint8Array;
  /** The root that a transaction of the network names, if it differs. */
  readonly claimed: Uint8Array | null;
}

const COLUMNS = "account, root, kinds, claimed";
/** A damaged row does not count as an account, so the root of its shard differs from the signed one. */
const IS_WHOLE = `length(account) = ${ACCOUNT_BYTES} AND length(root) = ${TRIE_HASH_BYTES}`;

const accountRow = statement<StoredAccount, [shard: number, account: Uint8Array]>(
  "trie-accounts.get",
  `SELECT ${COLUMNS} FROM trie_accounts WHERE shard = ? AND account = ?`,
);
const accountsAfter = statement<StoredAccount, [shard: number, account: Uint8Array, limit: number]>(
  "trie-accounts.after",
  `SELECT ${COLUMNS} FROM trie_accounts WHERE shard = ? AND account > ? AND ${IS_WHOLE} ORDER BY account LIMIT ?`,
);
const accountsBetween = statement<
  Pick<AccountRoot, "prefix" | "root">,
  [shard: number, from: Uint8Array, to: Uint8Array]
>(
  "trie-accounts.between",
  `SELECT account AS prefix, root FROM trie_accounts WHERE shard = ? AND account >= ? AND account <= ? AND ${IS_WHOLE} ORDER BY account`,
);
const claimedAccounts = statement<{ account: Uint8Array }, [shard: number, limit: number]>(
  "trie-accounts.claimed",
  "SELECT account FROM trie_accounts WHERE shard = ? AND claimed IS NOT NULL LIMIT ?",
);
const putAccount = statement<
  unknown,
  [shard: number, account: Uint8Array, root: Uint8Array, kinds: Uint8Array, claimed: Uint8Array | null]
>(
  "trie-accounts.put",
  "INSERT OR REPLACE INTO trie_accounts (shard, account, root, kinds, claimed) VALUES (?, ?, ?, ?, ?)",
);
const dropAccount = statement<unknown, [shard: number, account: Uint8Array]>(
  "trie-accounts.drop",
  "DELETE FROM trie_accounts WHERE shard = ? AND account = ?",
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

/** Returns the roots of the accounts of a shard in the range from `from` to `to`. */
export function accountRootsBetween(
  db: IndexDatabase,
  shard: number,
  from: Uint8Array,
  to: Uint8Array,
): Pick<AccountRoot, "prefix" | "root">[] {
  return db.all(accountsBetween, shard, from, to);
}

/**
 * Returns at most `limit` accounts for which a transaction of the network names another root. Reads all accounts of the
 * shard if there are fewer.
 */
export function accountsClaimedOtherwise(db: IndexDatabase, shard: number, limit: number): Uint8Array[] {
  return db.all(claimedAccounts, shard, limit).map(({ account }) => account);
}

export function putStoredAccount(db: IndexDatabase, shard: number, row: StoredAccount): void {
  db.run(putAccount, shard, row.account, row.root, row.kinds, row.claimed);
}

export function dropStoredAccount(db: IndexDatabase, shard: number, account: Uint8Array): void {
  db.run(dropAccount, shard, account);
}

/** A kind, the number of its keys, and the root of its subtree. */
const KIND_BYTES = 25;
const ROOT_START = 5;

export function encodeKinds(kinds: readonly KindRoot[]): Uint8Array {
  const bytes = Buffer.alloc(kinds.length * KIND_BYTES);
  for (const [index, { kind, keys, root }] of kinds.entries()) {
    const at = index * KIND_BYTES;
    bytes.writeUInt8(kind, at);
    bytes.writeUInt32BE(keys, at + 1);
    bytes.set(root, at + ROOT_START);
  }
  return bytes;
}

/** Returns the kinds in ascending order; none if the row is damaged. */
export function decodeKinds(bytes: Uint8Array): KindRoot[] {
  if (bytes.length % KIND_BYTES !== 0) return [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const kinds = Array.from({ length: bytes.length / KIND_BYTES }, (_, index) => {
    const at = index * KIND_BYTES;
    return {
      kind: view.getUint8(at),
      keys: view.getUint32(at + 1),
      root: bytes.subarray(at + ROOT_START, at + KIND_BYTES),
    };
  });
  return kinds.every(({ kind }, index) => index === 0 || kind > (kinds[index - 1]?.kind ?? 0)) ? kinds : [];
}

/** A kind of an account whose root is out of date. */
export interface DirtyKind {
  readonly account: Uint8Array;
  readonly kind: number;
}

const markDirtyKind = statement<unknown, [shard: number, account: Uint8Array, kind: number]>(
  "trie-dirty.put",
  "INSERT OR IGNORE INTO trie_dirty (shard, account, kind) VALUES (?, ?, ?)",
);
const dirtyFrom = statement<DirtyKind, [shard: number, account: Uint8Array, limit: number]>(
  "trie-dirty.from",
  `SELECT account, kind FROM trie_dirty WHERE shard = ? AND account >= ? AND length(account) = ${ACCOUNT_BYTES} AND kind BETWEEN 0 AND 255
   ORDER BY account, kind LIMIT ?`,
);
const dropDirtyKind = statement<unknown, [shard: number, account: Uint8Array, kind: number]>(
  "trie-dirty.drop",
  "DELETE FROM trie_dirty WHERE shard = ? AND account = ? AND kind = ?",
);
const dropDirtyOf = statement<unknown, [shard: number, account: Uint8Array]>(
  "trie-dirty.drop-account",
  "DELETE FROM trie_dirty WHERE shard = ? AND account = ?",
);
const dirtyKind = statement<{ one: number }, [shard: number, account: Uint8Array, kind: number]>(
  "trie-dirty.get",
  "SELECT 1 AS one FROM trie_dirty WHERE shard = ? AND account = ? AND kind = ?",
);
const dirtyOfAccount = statement<DirtyKind, [shard: number, account: Uint8Array]>(
  "trie-dirty.of-account",
  "SELECT account, kind FROM trie_dirty WHERE shard = ? AND account = ?",
);
const dirtyKinds = statement<{ count: number }, [shard: number]>(
  "trie-dirty.count",
  "SELECT count(*) AS count FROM trie_dirty WHERE shard = ?",
);

export function markDirty(db: IndexDatabase, shard: number, account: Uint8Array, kind: number): void {
  db.run(markDirtyKind, shard, account, kind);
}

/** Returns kinds that are out of date, in the order of their accounts, starting at `account`. */
export function dirtyKindsFrom(
  db: IndexDatabase,
  shard: number,
  account: Uint8Array,
  limit: number,
): DirtyKind[] {
  return db.all(dirtyFrom, shard, account, limit);
}

export function dropDirty(db: IndexDatabase, shard: number, account: Uint8Array, kind: number): void {
  db.run(dropDirtyKind, shard, account, kind);
}

/** Drops the marks of an account whose kinds have all been computed. */
export function dropDirtyAccount(db: IndexDatabase, shard: number, account: Uint8Array): void {
  db.run(dropDirtyOf, shard, account);
}

export function isDirty(db: IndexDatabase, shard: number, account: Uint8Array, kind: number): boolean {
  return db.get(dirtyKind, shard, account, kind) !== undefined;
}

/** Returns the kinds of an account that are out of date. */
export function dirtyKindsOf(db: IndexDatabase, shard: number, account: Uint8Array): DirtyKind[] {
  return db.all(dirtyOfAccount, shard, account);
}

export function isAnyDirty(db: IndexDatabase, shard: number): boolean {
  return dirtyKindsFrom(db, shard, new Uint8Array(), 1).length > 0;
}

export function countDirty(db: IndexDatabase, shard: number): number {
  return db.get(dirtyKinds, shard)?.count ?? 0;
}
