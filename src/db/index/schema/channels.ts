import { sql } from "drizzle-orm";
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

/**
 * The channels of the protocol, as shard 0 decided them. They cannot be rebuilt from live messages. Times are in Unix
 * seconds.
 */

/**
 * Registered channels. `id` is the public id in the API: the key, or `0x` and the channel id in hex if the key could be
 * taken for a URL or a part of one. `name_key` is the shown name in lower case. `pos_*` is the position on the chain of the
 * event that was applied last.
 */
export const channels = sqliteTable(
  "channels",
  {
    channelId: blob("channel_id", { mode: "buffer" }).primaryKey(),
    id: text().notNull(),
    key: text().notNull(),
    nameKey: text("name_key").notNull(),
    ownerAddress: blob("owner_address", { mode: "buffer" }).notNull(),
    expiry: integer().notNull(),
    posBlock: integer("pos_block").notNull(),
    posTx: integer("pos_tx").notNull(),
    posLog: integer("pos_log").notNull(),
    registeredAt: integer("registered_at").notNull(),
  },
  (t) => [
    uniqueIndex("channels_by_id").on(t.id),
    uniqueIndex("channels_by_key").on(t.key),
    index("channels_by_id_prefix").on(sql`id COLLATE NOCASE`),
    index("channels_by_name_prefix").on(t.nameKey),
    index("channels_by_owner").on(t.ownerAddress, t.key),
  ],
);

/**
 * The content of each slot of a channel. For kinds, targets and states, see `protocol/channels/slots.ts`. `seqnum` is the
 * number of shard 0's event that decided it. `timestamp` is the message's. `message` is the signed message without `data`;
 * null for a state that the upstream reported without its message, whose `author_fid` and `timestamp` may be 0.
 */
export const channelSlots = sqliteTable(
  "channel_slots",
  {
    channelId: blob("channel_id", { mode: "buffer" }).notNull(),
    kind: integer().notNull(),
    target: blob({ mode: "buffer" }).notNull(),
    targetFid: integer("target_fid").notNull(),
    state: integer().notNull(),
    authorFid: integer("author_fid").notNull(),
    timestamp: integer().notNull(),
    seqnum: integer().notNull(),
    detail: blob({ mode: "buffer" }),
    message: blob({ mode: "buffer" }),
  },
  (t) => [
    primaryKey({ columns: [t.channelId, t.kind, t.target] }),
    index("channel_slots_by_state").on(t.channelId, t.kind, t.state, t.timestamp, t.targetFid),
    index("channel_slots_by_member").on(t.targetFid, t.channelId).where(sql`target_fid > 0`),
  ],
);

/**
 * Hashes of the newest messages that have lost their slots to later ones, so that their senders learn that they were merged.
 */
export const channelReplaced = sqliteTable(
  "channel_replaced",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    hash: blob({ mode: "buffer" }).notNull(),
  },
  (t) => [uniqueIndex("channel_replaced_by_hash").on(t.hash)],
);

/**
 * The last verification, added or removed, of each address and fid that shard 0 decided. The owner of a channel is the fid
 * with the newest verification of the owner's address. `timestamp` is the message's. Rows of removals are kept.
 */
export const ownerClaims = sqliteTable(
  "owner_claims",
  {
    fid: integer().notNull(),
    address: blob({ mode: "buffer" }).notNull(),
    isAdd: integer("is_add").notNull(),
    timestamp: integer().notNull(),
    hash: blob({ mode: "buffer" }).notNull(),
    seqnum: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.fid, t.address] }),
    index("owner_claims_by_address").on(t.address, t.isAdd, t.timestamp, t.hash, t.fid),
  ],
);

/** Counts of a channel, registered or not. `followers` counts the likes of its URI. */
export const channelCounts = sqliteTable("channel_counts", {
  channelId: blob("channel_id", { mode: "buffer" }).primaryKey(),
  members: integer().notNull(),
  moderators: integer().notNull(),
  memberSlots: integer("member_slots").notNull(),
  moderationSlots: integer("moderation_slots").notNull(),
  followers: integer().notNull(),
});

/**
 * Decided records of kinds that this program does not know, as received, for a later version to apply. `position` is the
 * number of shard 0's event, or the id of a hub event. The total size of the rows is bounded; the oldest are deleted first.
 */
export const unknownRecords = sqliteTable("unknown_records", {
  id: integer().primaryKey({ autoIncrement: true }),
  kind: text().notNull(),
  number: integer().notNull(),
  shard: integer().notNull(),
  block: integer().notNull(),
  position: integer().notNull(),
  bytes: blob({ mode: "buffer" }).notNull(),
});

/** How many unknown records of each kind have arrived, and how many of them were not kept. Times are in Unix seconds. */
export const unknownKinds = sqliteTable(
  "unknown_kinds",
  {
    kind: text().notNull(),
    number: integer().notNull(),
    seen: integer().notNull(),
    dropped: integer().notNull(),
    lastAt: integer("last_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.kind, t.number] })],
);
