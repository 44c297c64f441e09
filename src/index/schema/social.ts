import { sql } from "drizzle-orm";
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

/** The read model: a pure function of the live messages, kept in the transaction that changes them. Unix seconds. */

/**
 * Live casts. `root_fid`/`root_hash` name the topmost ancestor that is known (it may itself be missing) and are null
 * for a cast that starts a thread; `root_parent_url` is that ancestor's parent_url, null while the ancestor is missing.
 */
export const casts = sqliteTable(
  "casts",
  {
    id: integer().primaryKey(),
    hash: blob({ mode: "buffer" }).notNull(),
    fid: integer().notNull(),
    timestamp: integer().notNull(),
    text: text().notNull(),
    parentFid: integer("parent_fid"),
    parentHash: blob("parent_hash", { mode: "buffer" }),
    parentUrl: text("parent_url"),
    rootFid: integer("root_fid"),
    rootHash: blob("root_hash", { mode: "buffer" }),
    rootParentUrl: text("root_parent_url"),
    /** JSON [[fid, byteOffset], …] in text order; null without mentions. */
    mentions: text(),
    /** JSON [{ url } | { fid, hash }, …]; null without embeds. */
    embeds: text(),
  },
  (t) => [
    uniqueIndex("casts_by_hash").on(t.hash),
    index("casts_by_author").on(t.fid, t.timestamp, t.hash),
    index("casts_by_parent")
      .on(t.parentHash, t.parentFid, t.timestamp, t.hash)
      .where(sql`parent_hash IS NOT NULL`),
    index("casts_by_parent_url").on(t.parentUrl, t.timestamp, t.hash).where(sql`parent_url IS NOT NULL`),
    index("casts_by_root").on(t.rootHash).where(sql`root_hash IS NOT NULL`),
  ],
);

/** Counts of live rows that name a cast, also of a cast that is not here yet. A wrong author's fid is another key. */
export const castCounts = sqliteTable(
  "cast_counts",
  {
    hash: blob({ mode: "buffer" }).notNull(),
    fid: integer().notNull(),
    likes: integer().notNull(),
    recasts: integer().notNull(),
    replies: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.hash, t.fid] })],
);

/** Live likes (1) and recasts (2), of a cast or of a URL. */
export const reactions = sqliteTable(
  "reactions",
  {
    fid: integer().notNull(),
    type: integer().notNull(),
    timestamp: integer().notNull(),
    hash: blob({ mode: "buffer" }).notNull(),
    targetFid: integer("target_fid"),
    targetHash: blob("target_hash", { mode: "buffer" }),
    targetUrl: text("target_url"),
  },
  (t) => [
    primaryKey({ columns: [t.fid, t.type, t.timestamp, t.hash] }),
    index("reactions_by_target")
      .on(t.targetHash, t.targetFid, t.type, t.timestamp, t.fid)
      .where(sql`target_hash IS NOT NULL`),
  ],
);

/** Live links of every type. `linked_at` is the display timestamp where the message has one. */
export const links = sqliteTable(
  "links",
  {
    fid: integer().notNull(),
    type: text().notNull(),
    targetFid: integer("target_fid").notNull(),
    linkedAt: integer("linked_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.fid, t.type, t.targetFid] }),
    index("links_by_source").on(t.fid, t.type, t.linkedAt, t.targetFid),
    index("links_by_target").on(t.targetFid, t.type, t.linkedAt, t.fid),
  ],
);

/** Numbers of live `follow` links to and from an fid. */
export const followCounts = sqliteTable("follow_counts", {
  fid: integer().primaryKey(),
  followers: integer().notNull(),
  following: integer().notNull(),
});

/** Live user data; an empty value has no row. */
export const userData = sqliteTable(
  "user_data",
  {
    fid: integer().notNull(),
    type: integer().notNull(),
    value: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.fid, t.type] })],
);

/** Live verifications. `protocol` 0 Ethereum, 1 Solana. */
export const verifications = sqliteTable(
  "verifications",
  {
    fid: integer().notNull(),
    address: blob({ mode: "buffer" }).notNull(),
    protocol: integer().notNull(),
    timestamp: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.fid, t.address] }),
    index("verifications_by_address").on(t.address, t.fid),
  ],
);

/** Numbers of rows by kind, so that no status page counts a table. */
export const totals = sqliteTable("totals", {
  name: text().primaryKey(),
  count: integer().notNull(),
});
