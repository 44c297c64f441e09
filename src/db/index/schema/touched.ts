import { blob, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * The objects in responses that each of the last commits changed, so that a reader evicts exactly those from its cache. A
 * reader reads this table in the snapshot of its response, so its cache is never older than the snapshot. `everything` is 1
 * when a row cannot list all changes. `fids` and `cast_ids`: 8 bytes each, little-endian; `channel_ids`: a JSON
 * array.
 */
export const touched = sqliteTable("touched", {
  seq: integer().primaryKey({ autoIncrement: true }),
  everything: integer().notNull(),
  fids: blob({ mode: "buffer" }).notNull(),
  castIds: blob("cast_ids", { mode: "buffer" }).notNull(),
  channelIds: text("channel_ids").notNull(),
});
