import type { IndexDatabase } from "../../src/db/index/database.ts";
import { portableRows } from "./portable-rows.ts";

/** The tables that contain facts of the network; row numbers are not such facts. */
const TABLES = [
  "messages",
  "urls",
  "missing_casts",
  "on_chain_events",
  "username_proofs",
  "username_proof_rivals",
  "gasless_keys",
  "key_nonces",
  "fids",
  "signers",
  "pro_tiers",
  "storage_lends",
  "store_counts",
  "casts",
  "cast_counts",
  "reactions",
  "links",
  "cast_quotes",
  "cast_embed_urls",
  "cast_mentions",
  "follow_counts",
  "mutual_follows",
  "notifications",
  "thread_notifications",
  "channel_activity",
  "channel_members",
  "user_data",
  "verifications",
];

/**
 * Dumps the network's facts in an index as text that is equal for equal states. `views` maps a table to a query with
 * its columns in portable form; an empty query omits the table.
 */
export function dumpIndex(db: IndexDatabase, views: Readonly<Record<string, string>> = {}): string {
  return TABLES.filter((table) => views[table] !== "")
    .map((table) => {
      const query = views[table] ?? portableRows(table);
      const rows = db.sqlite.query(query).values().map(textOf).sort();
      return `${table}\n${rows.map((row) => `  ${row}`).join("\n")}`;
    })
    .join("\n");
}

function textOf(row: readonly unknown[]): string {
  return row.map((value) => (value instanceof Uint8Array ? value.toHex() : JSON.stringify(value))).join("|");
}
