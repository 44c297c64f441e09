import { TRIE_HASH_BYTES } from "../../../protocol/message/message-hash.ts";
import type { OpaqueChild } from "../../../trust/trie/trie.ts";
import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";
import { type DirtyKind, dropDirty } from "./account-roots.ts";
import { dropCorrectionsOfNibble } from "./corrections.ts";

/** A child, with unknown keys, of an account in a shard. */
export interface OpaqueAt extends OpaqueChild {
  readonly shard: number;
  readonly account: Uint8Array;
}

const opaqueOf = statement<OpaqueChild, [shard: number, account: Uint8Array]>(
  "trie-opaque.of-account",
  // A damaged row does not count as a child, so the root of its account differs from the signed one.
  `SELECT nibble, root, keys FROM trie_opaque WHERE shard = ? AND account = ? AND nibble BETWEEN 0 AND 15
     AND length(root) = ${TRIE_HASH_BYTES}`,
);
const opaqueKeys = statement<{ keys: number }, [shard: number]>(
  "trie-opaque.keys",
  "SELECT coalesce(sum(keys), 0) AS keys FROM trie_opaque WHERE shard = ?",
);
const putOpaqueChild = statement<
  unknown,
  [shard: number, account: Uint8Array, nibble: number, root: Uint8Array, keys: number]
>(
  "trie-opaque.put",
  "INSERT OR REPLACE INTO trie_opaque (shard, account, nibble, root, keys) VALUES (?, ?, ?, ?, ?)",
);
const dropOpaqueChild = statement<unknown, [shard: number, account: Uint8Array, nibble: number]>(
  "trie-opaque.drop",
  "DELETE FROM trie_opaque WHERE shard = ? AND account = ? AND nibble = ?",
);
const staleKinds = statement<DirtyKind, [shard: number, account: Uint8Array, limit: number]>(
  "trie-opaque.stale",
  `SELECT d.account, d.kind FROM trie_dirty d WHERE d.shard = ?1 AND d.account > ?2 AND EXISTS
     (SELECT 1 FROM trie_opaque o WHERE o.shard = d.shard AND o.account = d.account AND o.nibble = d.kind >> 4)
   ORDER BY d.account, d.kind LIMIT ?3`,
);
const dirtyBelow = statement<DirtyKind, [shard: number, account: Uint8Array, from: number, to: number]>(
  "trie-opaque.dirty-below",
  "SELECT account, kind FROM trie_dirty WHERE shard = ? AND account = ? AND kind >= ? AND kind <= ?",
);

/** Returns the children of an account whose keys are not known. */
export function opaqueChildren(db: IndexDatabase, shard: number, account: Uint8Array): OpaqueChild[] {
  return db.all(opaqueOf, shard, account);
}

/** Returns the number of keys below opaque children. */
export function countOpaqueKeys(db: IndexDatabase, shard: number): number {
  return db.get(opaqueKeys, shard)?.keys ?? 0;
}

/** Reports whether the keys of a kind of an account are below an opaque child. */
export function isOpaque(db: IndexDatabase, shard: number, account: Uint8Array, kind: number): boolean {
  return opaqueChildren(db, shard, account).some(({ nibble }) => nibble === kind >> 4);
}

/** Returns the changed kinds below opaque children, for accounts after `account`. */
export function staleOpaque(
  db: IndexDatabase,
  shard: number,
  account: Uint8Array,
  limit: number,
): DirtyKind[] {
  return db.all(staleKinds, shard, account, limit);
}

/** Stores the current state of an opaque child, and drops what was known of its keys. Without keys, the child is deleted. */
export function putOpaque(db: IndexDatabase, { shard, account, nibble, root, keys }: OpaqueAt): void {
  dropCorrectionsOfNibble(db, shard, account, nibble);
  for (const { kind } of db.all(dirtyBelow, shard, account, nibble << 4, (nibble << 4) | 15))
    dropDirty(db, shard, account, kind);
  if (keys > 0) db.run(putOpaqueChild, shard, account, nibble, root, keys);
  else db.run(dropOpaqueChild, shard, account, nibble);
}
