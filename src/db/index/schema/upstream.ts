import { blob, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** The work of following another node: pending fids and journaled blocks. */

/**
 * Blocks that arrived during the backfill, to be applied after it. Blocks without an event have no row. `bytes`: the
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

/** Fids whose state must be read from the followed node. */
export const upstreamTodo = sqliteTable("upstream_todo", { fid: integer().primaryKey() });

/** Fids that are not followed but mentioned by followed ones. Only their profile is stored. */
export const upstreamMentioned = sqliteTable("upstream_mentioned", { fid: integer().primaryKey() });

/**
 * Live proofs of a name whose winning proof belongs to another fid. Shards decide independently, so two of them can each
 * have a proof of one ENS name. The latest of all is in `username_proofs`. `timestamp`: unix seconds.
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
