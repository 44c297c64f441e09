import type { IndexDatabase } from "../../src/db/index/database.ts";

/** The tables that hold facts of the network; row numbers are no such fact. */
const TABLES = [
  "messages",
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
  "display_name_words",
  "user_data",
  "verifications",
];

/**
 * Everything that the index says about the network, as text that is equal when the state is. `views` are queries that
 * stand for a table, with its columns; an empty one leaves it out.
 */
export function dumpIndex(db: IndexDatabase, views: Readonly<Record<string, string>> = {}): string {
  return TABLES.filter((table) => views[table] !== "")
    .map((table) => {
      const columns = db.sqlite
        .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`)
        .all()
        .flatMap(({ name }) => (name === "id" ? [] : [`quote(${name})`]));
      const rows = db.sqlite
        .query<{ row: string }, []>(
          `SELECT ${columns.join(" || '|' || ")} AS row FROM ${views[table] ?? table} ORDER BY row`,
        )
        .all();
      return `${table}\n${rows.map(({ row }) => `  ${row}`).join("\n")}`;
    })
    .join("\n");
}
