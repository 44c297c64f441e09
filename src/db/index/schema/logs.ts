import { sql } from "drizzle-orm";
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

/**
 * The log of hub events, in the order in which this node applied them. It is retained for a while and cannot be rebuilt. The
 * id of an event is `height << 14 | position in the block`, unique within its shard; `seq` orders the events of all shards
 * and is never reused. `type` is that of the wire. The first event of each block is its confirmation. `fid` is 0 for
 * confirmations and released names. `body` is the oneof of the wire's `HubEvent`, its messages without `data`; a
 * confirmation has none, because the row of its block has it.
 */
export const hubEvents = sqliteTable(
  "hub_events",
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    shard: integer().notNull(),
    id: integer().notNull(),
    type: integer().notNull(),
    fid: integer().notNull(),
    body: blob({ mode: "buffer" }),
  },
  (t) => [uniqueIndex("hub_events_by_id").on(t.shard, t.id)],
);

/**
 * The blocks of the hub events. `at` is the time of the block in Farcaster seconds. `events` and `counts` (JSON: number by
 * type) are those in the log, including the confirmation. In a block that this node numbered itself, `hash` is empty and
 * `seqnum` is 0.
 */
export const hubBlocks = sqliteTable(
  "hub_blocks",
  {
    shard: integer().notNull(),
    height: integer().notNull(),
    at: integer().notNull(),
    events: integer().notNull(),
    counts: text().notNull(),
    hash: blob({ mode: "buffer" }).notNull(),
    seqnum: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.shard, t.height] })],
);

/**
 * Events, written in the transaction that caused them. They wait for publication and stay for a while afterwards. They
 * record what happened when, which no other table does, so they cannot be rebuilt. A `seq` is never reused. `subject` is the
 * signed message of a cast, follow or reaction; null for an event about a user. `root_hash` and `root_parent_url` are the
 * thread of a cast at that time (see `casts`). `happened_at` is the time of the cause on the network, `applied_at` when the
 * node applied it, both in Unix seconds. `shard` and `block` name the block of a followed node that caused it; null if no
 * block did.
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

/**
 * The objects in responses that each of the last commits changed, so that a reader evicts exactly those from its cache. A
 * reader reads this table in the snapshot of its response, so its cache is never older than the snapshot. `everything` is 1
 * if a row cannot list all changes. `fids` and `cast_ids` have 8 bytes per id, little-endian; `channel_ids` is a JSON array.
 */
export const touched = sqliteTable("touched", {
  seq: integer().primaryKey({ autoIncrement: true }),
  everything: integer().notNull(),
  fids: blob({ mode: "buffer" }).notNull(),
  castIds: blob("cast_ids", { mode: "buffer" }).notNull(),
  channelIds: text("channel_ids").notNull(),
});
