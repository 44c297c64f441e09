import { blob, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * Events that were written in the transaction that caused them and wait until they are published. They tell what
 * happened when, which no table of the network's state says, so nothing can make them again. A `seq` is never given
 * twice. `subject` is the signed message of a cast, follow or reaction, null for an event about a user; `root_hash` and
 * `root_parent_url` are the thread of a cast as it stood (see `casts`). `happened_at` is the time of what caused the event
 * on the network, `applied_at` when the node learnt of it. Unix seconds.
 */
export const eventOutbox = sqliteTable("event_outbox", {
  seq: integer().primaryKey({ autoIncrement: true }),
  eventId: blob("event_id", { mode: "buffer" }).notNull(),
  kind: text().notNull(),
  fid: integer().notNull(),
  happenedAt: integer("happened_at").notNull(),
  appliedAt: integer("applied_at").notNull(),
  subject: blob({ mode: "buffer" }),
  rootHash: blob("root_hash", { mode: "buffer" }),
  rootParentUrl: text("root_parent_url"),
});
