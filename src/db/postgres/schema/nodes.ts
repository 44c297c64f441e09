import { boolean, integer, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { whole } from "./column.ts";

/** The nodes that share this state, and what they agree on. Times are unix seconds unless their name ends in `_ms`. */

/** A node and its lease. A node whose lease has ended is not alive. */
export const nodes = pgTable("nodes", {
  nodeId: text("node_id").primaryKey(),
  /** New with each start of the process. */
  boot: uuid("boot").notNull(),
  /** 0 to 63; its own among the live nodes. Rows of totals are per slot. */
  slot: integer("slot").notNull(),
  startedAt: whole("started_at").notNull(),
  endsAtMs: whole("ends_at_ms").notNull(),
  /** Counts the renewals of the lease. */
  beat: whole("beat").notNull(),
  version: text("version").notNull(),
  /** The creation time of the last migration that the node knows, unix ms. */
  schemaVersion: whole("schema_version").notNull(),
  /** Without an upstream: no other node may join. */
  solo: boolean("solo").notNull(),
  /** JSON of the settings that nodes compare. */
  settings: text("settings").notNull(),
  /** Since when the node publishes the events of live blocks; null while it fills. */
  liveSince: whole("live_since"),
  /** JSON of the applied block of each shard. */
  positions: text("positions"),
  /** The epoch of keys that the node has taken over: it uses nothing that it knew of keys before. Null on an earlier release. */
  keyEpoch: whole("key_epoch"),
});

/** What all nodes agree on: one row, `id` 1. */
export const cluster = pgTable("cluster", {
  id: integer("id").primaryKey(),
  /** JSON of the settings that must be the same on all nodes. */
  settings: text("settings").notNull(),
  /** The oldest schema that may read: the creation time of a migration, unix ms. */
  minReader: whole("min_reader").notNull().default(0),
  /** Of the server that had the last beat; a different one may be older. */
  systemIdentifier: text("system_identifier"),
  timeline: text("timeline"),
  /** Rises with each change that takes something away from an API key. */
  keyEpoch: whole("key_epoch").notNull().default(0),
  /** Where the state was moved to; a start on it is refused then. */
  movedTo: text("moved_to"),
});

/** What an operator has paused, for all nodes. */
export const switches = pgTable("switches", {
  name: text("name").primaryKey(),
  reason: text("reason").notNull(),
  pausedBy: text("paused_by").notNull(),
  pausedAt: whole("paused_at").notNull(),
});

/** Work of one node at a time. A lease saves work; it decides nothing. */
export const leases = pgTable("leases", {
  name: text("name").primaryKey(),
  /** The boot of the node that holds it. */
  holder: uuid("holder").notNull(),
  endsAtMs: whole("ends_at_ms").notNull(),
});

/** One row, `id` 1. The times that nodes and restores agree on; unix seconds. */
export const stateClock = pgTable("state_clock", {
  id: integer("id").primaryKey(),
  /** The time of a state that was copied from a single node; no decision reads it. */
  nowSecs: whole("now_secs").notNull(),
  /** The largest `expires_at` of a nonce that was deleted. A request that was valid until then is refused. */
  nonceFloor: whole("nonce_floor").notNull(),
});

/** The logs of the index of each node, so that an index that was deleted or replaced by a copy is noticed. */
export const nodeLogs = pgTable("node_logs", {
  nodeId: text("node_id").primaryKey(),
  /** Changes with each other index. */
  logId: text("log_id").notNull(),
  /** All heights of hub event blocks below this one may be in use. */
  reservedHeight: whole("reserved_height").notNull(),
});
