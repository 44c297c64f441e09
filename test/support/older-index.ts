import { Database } from "bun:sqlite";
import type { IndexDatabase } from "../../src/db/index/database.ts";
import { allMessages } from "../../src/db/index/messages/live-messages.ts";
import { type IndexFormat, OLDER_FORMATS } from "../../src/db/index/upgrade/older-index.ts";
import { COPIED_TABLES } from "../../src/db/index/upgrade/tables.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { fromSources } from "./program.ts";

const FIRST_MIGRATION = 1;
const COMPARED_TABLES = ["follow_counts", "verifications"];

/** A format of tests: `messages` has the signed messages in wire form. Importing this file makes the program know it. */
const WIRE_FORMAT: IndexFormat = {
  firstMigration: FIRST_MIGRATION,
  messageCount: (sqlite) =>
    sqlite.query<{ n: number | null }, []>("SELECT sum(count) AS n FROM totals WHERE name = 'messages'").get()
      ?.n ?? 0,
  storeCounts: (sqlite) =>
    new Map(
      sqlite
        .query<{ store: number; n: number }, []>("SELECT store, count(*) AS n FROM messages GROUP BY store")
        .all()
        .map(({ store, n }) => [store, n]),
    ),
  messagesAfter: (sqlite, id, limit) =>
    sqlite
      .query<{ id: number; bytes: Uint8Array }, [number, number]>(
        "SELECT id, bytes FROM messages WHERE id > ? ORDER BY id LIMIT ?",
      )
      .all(id, limit),
  comparedTables: COMPARED_TABLES,
};
OLDER_FORMATS.push(WIRE_FORMAT);

/** The command of a program that knows the format. The compiled one knows the formats of releases only. */
export const knowingOlderFormat: readonly string[] = [
  fromSources[0] ?? "",
  "--preload",
  import.meta.path,
  ...fromSources.slice(1),
];

/** Writes an index in the older format with the content of an index. */
export function writeOlderIndex(path: string, from: IndexDatabase): void {
  const to = new Database(path, { create: true, strict: true });
  to.exec("PRAGMA journal_mode = WAL");
  to.exec("BEGIN");
  to.exec(`CREATE TABLE __drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric);
    INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('', ${FIRST_MIGRATION});
    CREATE TABLE \`messages\` (id integer PRIMARY KEY, store integer NOT NULL, bytes blob NOT NULL);`);
  const insert = to.prepare("INSERT INTO messages (store, bytes) VALUES (?, ?)");
  // In an order that is neither that of the slots nor that of time, as messages arrive.
  const messages = allMessages(from, FarcasterNetwork.FARCASTER_NETWORK_MAINNET)
    .toArray()
    .sort((a, b) => Buffer.compare(a.hash, b.hash));
  for (const message of messages) insert.run(message.store, message.encode());
  for (const table of ["meta", "totals", ...COPIED_TABLES, ...COMPARED_TABLES])
    copyTable(from.sqlite, to, table);
  insert.finalize();
  to.exec("COMMIT");
  to.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  // With a statement that is not finalized the files would stay open, with their log, until garbage is collected.
  to.close(true);
}

function copyTable(from: Database, to: Database, table: string): void {
  const schema = from.query<{ sql: string }, [string]>("SELECT sql FROM sqlite_master WHERE name = ?");
  to.exec(schema.get(table)?.sql ?? "");
  const rows = from.query(`SELECT * FROM ${table}`).values();
  const places = Array.from(rows[0] ?? [], () => "?").join(", ");
  for (const row of rows) to.query(`INSERT INTO ${table} VALUES (${places})`).run(...(row as never[]));
}
