import { sql } from "drizzle-orm";
import {
  blob,
  index,
  integer,
  primaryKey,
  real,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

/**
 * The network's data other than messages, and whatever else the node cannot rebuild. Every other table of the index can be
 * rebuilt from these tables and those of `messages.ts`.
 */

/** On-chain registry events as received. `block_timestamp` is in Unix seconds. */
export const onChainEvents = sqliteTable(
  "on_chain_events",
  {
    type: integer().notNull(),
    fid: integer().notNull(),
    blockNumber: integer("block_number").notNull(),
    logIndex: integer("log_index").notNull(),
    blockTimestamp: integer("block_timestamp").notNull(),
    bytes: blob({ mode: "buffer" }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.type, t.fid, t.blockNumber, t.logIndex] })],
);

/**
 * The on-chain events of one type of an fid on which two followed nodes agreed. `fingerprint` covers all of them as stored
 * in the index; `confirmed_at` is in Unix seconds. The rows with the highest numbers are kept.
 */
export const confirmedEvents = sqliteTable(
  "confirmed_events",
  {
    id: integer().primaryKey({ autoIncrement: true }),
    type: integer().notNull(),
    fid: integer().notNull(),
    fingerprint: blob({ mode: "buffer" }).notNull(),
    confirmedAt: integer("confirmed_at").notNull(),
  },
  (t) => [uniqueIndex("confirmed_events_by_fid").on(t.fid, t.type)],
);

/**
 * The live proof of each name, one for the whole network. An fname proof is not a message, so its row here is the original.
 * `fid` 0 marks a released name, so that an older transfer cannot restore it. `timestamp` is in Unix seconds.
 */
export const usernameProofs = sqliteTable(
  "username_proofs",
  {
    name: text().primaryKey(),
    type: integer().notNull(),
    fid: integer().notNull(),
    owner: blob({ mode: "buffer" }).notNull(),
    signature: blob({ mode: "buffer" }).notNull(),
    timestamp: integer().notNull(),
    /** Orders the proof's message among proofs of this name: Farcaster seconds and hash; null for an fname. */
    messageTimestamp: integer("message_timestamp"),
    messageHash: blob("message_hash", { mode: "buffer" }),
  },
  (t) => [index("username_proofs_by_fid").on(t.fid, t.name)],
);

/**
 * Keys added by a custody signature without a chain transaction. A key belongs to one fid. `added_at` is the time of its
 * KEY_ADD, and `last_used_at` advances to the times of the messages it signs, both in Unix seconds.
 */
export const gaslessKeys = sqliteTable(
  "gasless_keys",
  {
    key: blob({ mode: "buffer" }).primaryKey(),
    fid: integer().notNull(),
    requestFid: integer("request_fid").notNull(),
    /** JSON array of message type numbers. */
    scopes: text().notNull(),
    ttlSecs: integer("ttl_secs").notNull(),
    addedAt: integer("added_at").notNull(),
    lastUsedAt: integer("last_used_at").notNull(),
    /** The user nonce of its KEY_ADD; 0 for a key older than this column. */
    nonce: integer().notNull().default(0),
  },
  (t) => [index("gasless_keys_by_fid").on(t.fid, t.key)],
);

/**
 * The last nonces of gasless key operations. A user's custody nonces are under (`fid`, 0). Keys that remove themselves use
 * the nonces of the app that requested them, across all users, under (0, `request_fid`).
 */
export const keyNonces = sqliteTable(
  "key_nonces",
  {
    fid: integer().notNull(),
    requestFid: integer("request_fid").notNull(),
    nonce: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.fid, t.requestFid] })],
);

/**
 * Hash of the KEY_REMOVE that removed a gasless key, until the key is added again. A removal stores no message, and a client
 * that submits it a second time must learn that it was merged.
 */
export const keyRemovals = sqliteTable("key_removals", {
  key: blob({ mode: "buffer" }).primaryKey(),
  hash: blob({ mode: "buffer" }).notNull(),
});

/** The positions of resumable work, written in the transaction of the work itself. */
export const positions = sqliteTable("positions", {
  key: text().primaryKey(),
  position: integer().notNull(),
});

/**
 * Channels that an operator imported in the client's public registry format. They are not protocol data and cannot be
 * rebuilt from messages. `id` is the channel id of the URL; `registry_id` is the registry's own id, which differs when the
 * URL is not a client's. `name_key` is the name in lower case, for search; `moderator_fids` is a JSON array; `created_at`
 * is in Unix seconds.
 */
export const channelRegistry = sqliteTable(
  "channel_registry",
  {
    id: text().primaryKey(),
    registryId: text("registry_id").notNull(),
    url: text(),
    name: text().notNull(),
    nameKey: text("name_key").notNull(),
    imageUrl: text("image_url"),
    description: text(),
    leadFid: integer("lead_fid"),
    moderatorFids: text("moderator_fids").notNull(),
    followerCount: integer("follower_count").notNull(),
    createdAt: integer("created_at"),
    pinnedCastHash: text("pinned_cast_hash"),
  },
  (t) => [
    uniqueIndex("channel_registry_by_registry_id").on(t.registryId),
    index("channel_registry_by_registry_id_prefix").on(sql`registry_id COLLATE NOCASE`),
    index("channel_registry_by_id_prefix").on(sql`id COLLATE NOCASE`),
    index("channel_registry_by_name_prefix").on(t.nameKey),
  ],
);

/**
 * Rankings computed in the background. A cursor stays in the snapshot of its first page; `ref` is a cast hash or a channel
 * id.
 */
export const rankings = sqliteTable(
  "rankings",
  {
    kind: text().notNull(),
    snapshot: integer().notNull(),
    rank: integer().notNull(),
    ref: blob({ mode: "buffer" }).notNull(),
    score: real().notNull(),
  },
  (t) => [primaryKey({ columns: [t.kind, t.snapshot, t.rank] })],
);

/** Properties of the database as a whole, such as its network. */
export const meta = sqliteTable("meta", {
  key: text().primaryKey(),
  value: text().notNull(),
});

/** State of following another node: pending fids and journaled blocks. */

/**
 * Blocks that arrived during the backfill, to be applied after it. Blocks without events have no row. `bytes` are the
 * block's events in wire form.
 */
export const upstreamJournal = sqliteTable(
  "upstream_journal",
  {
    shard: integer().notNull(),
    block: integer().notNull(),
    bytes: blob({ mode: "buffer" }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.shard, t.block] })],
);

/**
 * The newest received block of each shard of the followed network, which the next block must name as its parent. `timestamp`
 * is in Farcaster seconds. `root` is the root of the state after the block. `certified` is the newest block with a verified
 * certificate; it is lower than `height` while validators are not known.
 */
export const chainHeads = sqliteTable("chain_heads", {
  shard: integer().primaryKey(),
  height: integer().notNull(),
  hash: blob({ mode: "buffer" }).notNull(),
  timestamp: integer().notNull(),
  root: blob({ mode: "buffer" }).notNull(),
  certified: integer().notNull(),
});

/** Fids whose state must be read from the followed node. */
export const upstreamTodo = sqliteTable("upstream_todo", { fid: integer().primaryKey() });

/** Fids that are not followed but that followed ones mention. Only their profile is stored. */
export const upstreamMentioned = sqliteTable("upstream_mentioned", { fid: integer().primaryKey() });

/**
 * Live proofs of a name whose winning proof belongs to another fid. Shards decide independently, so two shards can each have
 * a proof of one ENS name. The latest of all is in `username_proofs`. `timestamp` is in Unix seconds.
 */
export const usernameProofRivals = sqliteTable(
  "username_proof_rivals",
  {
    name: text().notNull(),
    fid: integer().notNull(),
    type: integer().notNull(),
    owner: blob({ mode: "buffer" }).notNull(),
    signature: blob({ mode: "buffer" }).notNull(),
    timestamp: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.name, t.fid] }), index("username_proof_rivals_by_fid").on(t.fid, t.name)],
);
