import { sql } from "drizzle-orm";
import {
  blob,
  customType,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

/**
 * The live messages of the network. Casts, reactions, links and user data are stored as columns, from which the signed
 * message is rebuilt byte for byte; `messages` stores the other types as bytes. Everything else in the index that is not in
 * `protocol.ts` can be rebuilt from these tables.
 *
 * Row ids never leave the process: they differ between nodes, and between a bulk build and live arrival.
 */

/** The keys that signed messages. */
export const messageSigners = sqliteTable(
  "message_signers",
  { id: integer().primaryKey(), key: blob({ mode: "buffer" }).notNull() },
  (t) => [uniqueIndex("message_signers_by_key").on(t.key)],
);

/**
 * The part of a signed message that its columns do not contain, one row per row of `casts`, `reactions`, `links` and
 * `user_data`, in order of arrival. `data` is null if encoding the columns produces the signed bytes; otherwise it is those
 * bytes.
 */
export const envelopes = sqliteTable("envelopes", {
  id: integer().primaryKey(),
  signerId: integer("signer_id").notNull(),
  signature: blob({ mode: "buffer" }).notNull(),
  data: blob({ mode: "buffer" }),
});

/**
 * Live messages of the other types: removes, compact link states, verifications, username proofs, storage lends. One row per
 * conflict slot (see `protocol/message/merge-rules.ts`). `timestamp` is in Farcaster seconds. `data` is the signed bytes.
 * The hash is the BLAKE3 of `data`.
 */
export const messages = sqliteTable(
  "messages",
  {
    id: integer().primaryKey(),
    fid: integer().notNull(),
    store: integer().notNull(),
    slot: blob({ mode: "buffer" }).notNull(),
    kind: integer().notNull(),
    timestamp: integer().notNull(),
    signerId: integer("signer_id").notNull(),
    signature: blob({ mode: "buffer" }).notNull(),
    data: blob({ mode: "buffer" }).notNull(),
  },
  (t) => [
    uniqueIndex("messages_by_slot").on(t.fid, t.store, t.slot),
    index("messages_by_age").on(t.fid, t.store, t.timestamp),
  ],
);

/** URLs that casts have as parent and that reactions target. Embedded URLs are in `cast_embed_urls`. */
export const urls = sqliteTable("urls", { id: integer().primaryKey(), url: text().notNull() }, (t) => [
  uniqueIndex("urls_by_url").on(t.url),
]);

/**
 * Live casts. `id` contains the time (see `cast-id.ts`). `parent_id` and `root_id` are ids of `casts` or `missing_casts`.
 * `root_*` is the topmost known ancestor, which may itself be missing, and null for a cast that starts a thread;
 * `root_url_id` is that ancestor's parent URL, null while the ancestor is missing. The hashes of parent and root are
 * duplicated here because reads of casts would otherwise need another row for each. `rest` is the cast's body in wire form
 * without its text and parent; null if that is empty.
 */
export const casts = sqliteTable(
  "casts",
  {
    id: integer().primaryKey(),
    hash: blob({ mode: "buffer" }).notNull(),
    fid: integer().notNull(),
    text: text().notNull(),
    parentId: integer("parent_id"),
    parentFid: integer("parent_fid"),
    parentHash: blob("parent_hash", { mode: "buffer" }),
    parentUrlId: integer("parent_url_id"),
    rootId: integer("root_id"),
    rootFid: integer("root_fid"),
    rootHash: blob("root_hash", { mode: "buffer" }),
    rootUrlId: integer("root_url_id"),
    rest: blob({ mode: "buffer" }),
    envelopeId: integer("envelope_id").notNull(),
  },
  // Each index ends with the id, as every index of a rowid table does. A custom migration adds `casts_by_hash` on the first
  // 6 bytes of the hash, which drizzle-kit cannot express; the full hash is compared in the row.
  (t) => [
    index("casts_by_author").on(t.fid, sql`(parent_id IS NOT NULL)`),
    index("casts_by_author_and_parent").on(t.fid, t.parentId).where(sql`parent_id IS NOT NULL`),
    index("casts_by_author_in_channel").on(t.fid, t.parentUrlId).where(sql`parent_url_id IS NOT NULL`),
    index("casts_by_parent").on(t.parentId).where(sql`parent_id IS NOT NULL`),
    index("casts_by_parent_url").on(t.parentUrlId).where(sql`parent_url_id IS NOT NULL`),
    index("casts_by_root").on(t.rootId).where(sql`root_id IS NOT NULL`),
  ],
);

/**
 * Casts that are not live but that a live row names: as parent, root, quote or target of a reaction, or in counts. A cast
 * that was never stored here has a negative id. A dropped cast keeps its id, and gets it back when it returns. An id belongs
 * to a pair of hash and fid, so the same hash with a wrong author's fid is another cast. The row is deleted with the last
 * row that names it. Index: `missing_casts_by_hash`, like `casts_by_hash`.
 */
export const missingCasts = sqliteTable("missing_casts", {
  id: integer().primaryKey(),
  hash: blob({ mode: "buffer" }).notNull(),
  fid: integer().notNull(),
});

/**
 * Casts that arrived after many rows had named them as missing. Rows that name `old_id` are moved to `new_id`, a bounded
 * number in each commit. Until then both ids have rows: `old_id` in `missing_casts`, `new_id` there or in `casts`.
 */
export const castRepoints = sqliteTable(
  "cast_repoints",
  {
    oldId: integer("old_id").primaryKey(),
    newId: integer("new_id").notNull(),
  },
  (t) => [uniqueIndex("cast_repoints_by_new_id").on(t.newId)],
);

/**
 * Live likes (1) and recasts (2). `target_id` is the id of a cast, live or missing, or of a URL; `target_fid` is 0 for a
 * URL. The primary key is the conflict slot. `timestamp` is in Unix seconds.
 */
export const reactions = sqliteTable(
  "reactions",
  {
    fid: integer().notNull(),
    targetFid: integer("target_fid").notNull(),
    targetId: integer("target_id").notNull(),
    type: integer().notNull(),
    timestamp: integer().notNull(),
    envelopeId: integer("envelope_id").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.fid, t.targetFid, t.targetId, t.type] }),
    index("reactions_by_target").on(t.targetId, t.type, t.timestamp, t.fid),
    index("reactions_by_user").on(t.fid, t.type, t.timestamp),
  ],
);

/** A column without type affinity, which stores each value unchanged. */
const anyValue = customType<{ data: number | string }>({ dataType: () => "blob" });

/**
 * Live links. `type` is 1 for `follow`, 2 for `block`, and the text of any other type. `timestamp` is the message's,
 * `displayed_at` its display time if it has one, both in Unix seconds. The primary key is the conflict slot.
 */
export const links = sqliteTable(
  "links",
  {
    fid: integer().notNull(),
    type: anyValue().notNull(),
    targetFid: integer("target_fid").notNull(),
    timestamp: integer().notNull(),
    displayedAt: integer("displayed_at"),
    envelopeId: integer("envelope_id").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.fid, t.type, t.targetFid] }),
    // By display time: an ordinary link has one entry. A list by display time merges the first two of each three indexes, a
    // list by message time the first and the third. The indexes of ordinary links end with the column of their condition,
    // which SQLite would otherwise read from each row.
    index("links_by_source")
      .on(t.fid, t.type, t.timestamp, t.targetFid, t.displayedAt)
      .where(sql`displayed_at IS NULL`),
    index("links_by_source_displayed")
      .on(t.fid, t.type, t.displayedAt, t.targetFid)
      .where(sql`displayed_at IS NOT NULL`),
    index("links_by_source_with_display").on(t.fid, t.type, t.timestamp).where(sql`displayed_at IS NOT NULL`),
    index("links_by_target")
      .on(t.targetFid, t.type, t.timestamp, t.fid, t.displayedAt)
      .where(sql`displayed_at IS NULL`),
    index("links_by_target_displayed")
      .on(t.targetFid, t.type, t.displayedAt, t.fid)
      .where(sql`displayed_at IS NOT NULL`),
    index("links_by_target_with_display")
      .on(t.targetFid, t.type, t.timestamp, t.fid)
      .where(sql`displayed_at IS NOT NULL`),
  ],
);

/** Live user data, one row per type. An empty value unsets the property. `timestamp` is in Unix seconds. */
export const userData = sqliteTable(
  "user_data",
  {
    fid: integer().notNull(),
    type: integer().notNull(),
    value: text().notNull(),
    timestamp: integer().notNull(),
    envelopeId: integer("envelope_id").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.fid, t.type] }),
    // Locations (7) and X names (8) are looked up by value.
    index("user_data_by_value")
      .on(t.type, sql`value COLLATE NOCASE`, t.fid)
      .where(sql`type IN (7, 8) AND value != ''`),
  ],
);
