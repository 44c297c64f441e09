import { sql } from "drizzle-orm";
import { blob, index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/**
 * Events, written in the transaction that caused them. They wait for publication, and stay for a while after it. They record
 * what happened when, which no other table holds, so they cannot be rebuilt. A `seq` is never reused. `subject` is the signed message of a cast,
 * follow or reaction, null for an event about a user. `root_hash` and `root_parent_url` are the thread of a cast at that
 * time (see `casts`). `happened_at` is the time of the cause on the network, `applied_at` when the node applied it. Unix
 * seconds. `shard` and `block` name the block of a followed node that caused it; null for events of no block.
 */
export const eventOutbox = sqliteTable(
  "event_outbox",
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    eventId: blob("event_id", { mode: "buffer" }).notNull(),
    kind: text().notNull(),
    fid: integer().notNull(),
    happenedAt: integer("happened_at").notNull(),
    appliedAt: integer("applied_at").notNull(),
    subject: blob({ mode: "buffer" }),
    rootHash: blob("root_hash", { mode: "buffer" }),
    rootParentUrl: text("root_parent_url"),
    shard: integer(),
    block: integer(),
  },
  (table) => [
    index("event_outbox_by_block").on(table.shard, table.block).where(sql`${table.shard} IS NOT NULL`),
  ],
);
