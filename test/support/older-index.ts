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

interface StoredMessage {
  readonly hash: Uint8Array;
  readonly store: number;
  encode(): Uint8Array;
}

/**
 * Writes an index in the older format with the tables of an index, and its messages unless others are given. It holds one
 * account's messages in memory.
 */
export function writeOlderIndex(
  path: string,
  from: IndexDatabase,
  messages: Iterable<StoredMessage> = allMessages(from, FarcasterNetwork.FARCASTER_NETWORK_MAINNET),
): void {
  const to = new Database(path, { create: true, strict: true });
  to.exec("PRAGMA journal_mode = WAL");
  to.exec("BEGIN");
  to.exec(`CREATE TABLE __drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric);
    INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('', ${FIRST_MIGRATION});
    CREATE TABLE \`messages\` (id integer PRIMARY KEY, store integer NOT NULL, bytes blob NOT NULL);
    CREATE TEMP TABLE by_account (hash blob NOT NULL, store integer NOT NULL, bytes blob NOT NULL);`);
  const insert = to.prepare("INSERT INTO by_account VALUES (?, ?, ?)");
  for (const message of messages) insert.run(message.hash, message.store, message.encode());
  insert.finalize();
  // In an order that is neither that of the slots nor that of time, as messages arrive.
  to.exec("INSERT INTO messages (store, bytes) SELECT store, bytes FROM by_account ORDER BY hash");
  for (const table of ["meta", "totals", ...COPIED_TABLES, ...COMPARED_TABLES])
    copyTable(from.sqlite, to, table);
  to.exec("COMMIT");
  to.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  // With a statement that is not finalized the files would stay open, with their log, until garbage is collected.
  to.close(true);
}

function copyTable(from: Database, to: Database, table: string): void {
  const schema = from.query<{ sql: string }, [string]>("SELECT sql FROM sqlite_master WHERE name = ?");
  to.exec(schema.get(table)?.sql ?? "");
  const rows = from.query(`SELECT * FROM ${table}`).values();
  if (rows.length === 0) return;
  const insert = to.prepare(
    `INSERT INTO ${table} VALUES (${Array.from(rows[0] ?? [], () => "?").join(", ")})`,
  );
  for (const row of rows) insert.run(...(row as never[]));
  insert.finalize();
}
