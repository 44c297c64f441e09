import { blob, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * What each of the last commits changed of the objects that answers show, so that a reader drops just that from what it
 * keeps in memory. It is read in the snapshot of the answer, so what is kept is never older than the snapshot.
 * `everything` stands for more than a row is to list. `fids`: 8 bytes each, little-endian; `hashes`: 20 bytes each;
 * `channel_ids`: a JSON array.
 */
export const touched = sqliteTable("touched", {
  seq: integer().primaryKey({ autoIncrement: true }),
  everything: integer().notNull(),
  fids: blob({ mode: "buffer" }).notNull(),
  hashes: blob({ mode: "buffer" }).notNull(),
  channelIds: text("channel_ids").notNull(),
});
