import { blob, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** The work of following another node: what is still to be done, and what it said meanwhile. */

/**
 * Blocks that came while the index was being filled, to be applied behind that; blocks without an event have no row.
 * `bytes`: the block's events in wire form.
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

/** Fids whose state has to be read from the followed node. */
export const upstreamTodo = sqliteTable("upstream_todo", { fid: integer().primaryKey() });

/** Fids that are not followed, of which only what presents them is kept, because followed ones mention them. */
export const upstreamMentioned = sqliteTable("upstream_mentioned", { fid: integer().primaryKey() });

/**
 * Live proofs of a name that another fid shows: the shards of the network decide by themselves, so that two can each
 * hold a proof of one ENS name. The latest of them all stands in `username_proofs`. `timestamp`: unix seconds.
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
