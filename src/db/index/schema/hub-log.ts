import { blob, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

/**
 * The log of hub events, in the order in which this node applied them. It is retained for a while and cannot be rebuilt. The id of
 * an event is `height << 14 | position in the block`, unique within its shard; `seq` orders the events of all shards, and is
 * never reused. `type` is that of the wire. The first event of each block is its confirmation. `fid` is 0 for confirmations and
 * released names. `body` is the oneof of the wire's `HubEvent`, its messages without `data`; a confirmation has none, because
 * the row of its block has it.
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
 * The blocks of the hub events. `at` is the time of the block in Farcaster seconds. `events` and `counts` (JSON: number by type) are
 * those of the log, the confirmation included. `hash` is empty and `seqnum` 0 in a block of this node's own numbering.
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
