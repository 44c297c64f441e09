import { setShardCount, shardCount } from "../counts/totals.ts";
import type { IndexDatabase } from "../database.ts";
import { getPosition } from "../positions.ts";
import type { OlderIndex } from "./older-index.ts";

// How each table of the index is treated when a new file is built from an older one. A test compares the lists with the
// schema, so a new table must be added to one of them.

/** Tables with data that is stored nowhere else. Their rows are copied. */
export const COPIED_TABLES = [
  "on_chain_events",
  "confirmed_events",
  "username_proofs",
  "username_proof_rivals",
  "gasless_keys",
  "key_nonces",
  "key_removals",
  "positions",
  "channel_registry",
  "rankings",
  "score_runs",
  "scores",
  "event_outbox",
  "upstream_journal",
  "upstream_mentioned",
  "upstream_todo",
  "chain_heads",
  "trie_corrections",
  "trie_key_adds",
  "trie_opaque",
  "trie_accounts",
  "trie_dirty",
  "trie_shards",
  "channels",
  "channel_slots",
  "channel_counts",
  "channel_replaced",
  "owner_claims",
  "unknown_records",
  "unknown_kinds",
] as const;

/** Tables that are filled from the signed messages and the on-chain events. */
export const BUILT_TABLES = [
  "messages",
  "message_signers",
  "envelopes",
  "urls",
  "casts",
  "missing_casts",
  "reactions",
  "links",
  "user_data",
  "casts_fts",
  "people_fts",
  "fids",
  "signers",
  "pro_tiers",
  "storage_lends",
  "store_counts",
  "totals",
  "cast_counts",
  "cast_quotes",
  "cast_embed_urls",
  "cast_mentions",
  "follow_counts",
  "mutual_follows",
  "verifications",
  "notifications",
  "thread_notifications",
  "channel_activity",
  "channel_members",
] as const;

/**
 * Tables that are handled one by one. `meta` is copied and gets the marks of the migration. A new file has no repoints. The
 * caches that `touched` invalidates start empty in each process. The log of hub events ends with the file that contains it.
 */
export const OTHER_TABLES = ["meta", "cast_repoints", "touched", "hub_events", "hub_blocks"] as const;

/** The position that stores the number of shards of the followed network. */
const SHARDS_POSITION = "upstream shards";

/**
 * Copies what cannot be built from messages, in one transaction. Columns missing from the older file get their defaults.
 *
 * @param alongside runs in the transaction.
 */
export function copyTables(older: OlderIndex, db: IndexDatabase, alongside: () => void): void {
  db.sqlite.run("ATTACH DATABASE ? AS older", [older.file]);
  try {
    db.transaction(() => {
      for (const table of ["meta", ...COPIED_TABLES]) copyTable(older, db, table);
      copySequence(db);
      const shards = getPosition(db, SHARDS_POSITION);
      if (shards !== undefined && shards !== shardCount(db)) setShardCount(db, shards);
      alongside();
    });
  } finally {
    db.sqlite.exec("DETACH DATABASE older");
  }
}

function copyTable(older: OlderIndex, db: IndexDatabase, table: string): void {
  const olderColumns = older.columnsOf(table);
  const columns = db.sqlite
    .query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)")
    .all(table)
    .flatMap(({ name }) => (olderColumns.includes(name) ? [name] : []))
    .join(", ");
  if (columns === "") return;
  db.sqlite.run(`INSERT INTO main.${table} (${columns}) SELECT ${columns} FROM older.${table}`);
}

/** Copies the sequence, because event numbers are never reused, even if all earlier events were published. */
function copySequence(db: IndexDatabase): void {
  db.sqlite.run("DELETE FROM main.sqlite_sequence WHERE name = 'event_outbox'");
  db.sqlite.run(
    "INSERT INTO main.sqlite_sequence (name, seq) SELECT name, seq FROM older.sqlite_sequence WHERE name = 'event_outbox'",
  );
}

/** A table whose row count differs from that in the older file. */
export interface CountDifference {
  readonly table: string;
  readonly before: number;
  readonly after: number;
}

/** Compares the row counts of tables that both formats have. Reads every table once. */
export function compareTables(
  older: OlderIndex,
  db: IndexDatabase,
  tables: readonly string[],
): CountDifference[] {
  return tables
    .map((table) => ({ table, before: older.rowsIn(table), after: rowsIn(db, table) }))
    .filter(({ before, after }) => before !== after);
}

/** Returns the stores whose message count differs. */
export function compareStores(older: OlderIndex, db: IndexDatabase): CountDifference[] {
  const before = older.storeCounts();
  const after = new Map(
    db.sqlite
      .query<{ store: number; n: number }, []>(
        "SELECT store, sum(used) AS n FROM store_counts GROUP BY store",
      )
      .all()
      .map(({ store, n }) => [store, n]),
  );
  const stores = new Set([...before.keys(), ...after.keys()]);
  return [...stores]
    .map((store) => ({
      table: `store ${store}`,
      before: before.get(store) ?? 0,
      after: after.get(store) ?? 0,
    }))
    .filter((difference) => difference.before !== difference.after);
}

function rowsIn(db: IndexDatabase, table: string): number {
  return db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? 0;
}
