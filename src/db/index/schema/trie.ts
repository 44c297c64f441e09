import { blob, integer, primaryKey, sqliteTable } from "drizzle-orm/sqlite-core";

/**
 * The trie of each data shard of the followed network, whose root its validators sign. Most of its keys are derived from the
 * rows of messages, on-chain events and fnames. These tables have the rest, and the computed hashes. `account` is the
 * virtual shard and the fid, which are the first five bytes of a key.
 */

/**
 * Whether a key is in the trie of a shard, for keys on which the rows are silent or wrong: ENS proofs, gasless keys and
 * their removals, verifications on shards other than the author's, fnames that were proved twice, records that this node
 * refuses.
 */
export const trieCorrections = sqliteTable(
  "trie_corrections",
  {
    shard: integer().notNull(),
    key: blob({ mode: "buffer" }).notNull(),
    present: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.shard, t.key] })],
);

/**
 * Hash of the newest KEY_ADD of a gasless key as its home shard has applied it. The next KEY_ADD or a KEY_REMOVE deletes it
 * from the trie.
 */
export const trieKeyAdds = sqliteTable(
  "trie_key_adds",
  {
    fid: integer().notNull(),
    key: blob({ mode: "buffer" }).notNull(),
    hash: blob({ mode: "buffer" }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.fid, t.key] })],
);

/** Children of accounts whose keys are not known, as bound by a signed root. `nibble` is the high nibble of their kinds. */
export const trieOpaque = sqliteTable(
  "trie_opaque",
  {
    shard: integer().notNull(),
    account: blob({ mode: "buffer" }).notNull(),
    nibble: integer().notNull(),
    root: blob({ mode: "buffer" }).notNull(),
    keys: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.shard, t.account, t.nibble] })],
);

/**
 * The computed roots of accounts. `kinds` has 25 bytes per kind of key, ascending: the kind, the number of its keys
 * (big-endian), the root of its subtree. `claimed` is the root that a transaction of the network names, if it differs.
 */
export const trieAccounts = sqliteTable(
  "trie_accounts",
  {
    shard: integer().notNull(),
    account: blob({ mode: "buffer" }).notNull(),
    root: blob({ mode: "buffer" }).notNull(),
    kinds: blob({ mode: "buffer" }).notNull(),
    claimed: blob({ mode: "buffer" }),
  },
  (t) => [primaryKey({ columns: [t.shard, t.account] })],
);

/** Kinds of accounts whose keys have changed since their roots were computed. */
export const trieDirty = sqliteTable(
  "trie_dirty",
  {
    shard: integer().notNull(),
    account: blob({ mode: "buffer" }).notNull(),
    kind: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.shard, t.account, t.kind] })],
);

/**
 * How the computed root of each shard compares with the signed one. `proven_at` is in Unix seconds. `mismatch_height` is the
 * first height of the current mismatch, null without one.
 */
export const trieShards = sqliteTable("trie_shards", {
  shard: integer().primaryKey(),
  provenHeight: integer("proven_height"),
  provenAt: integer("proven_at"),
  mismatchHeight: integer("mismatch_height"),
  mismatches: integer().notNull(),
});
