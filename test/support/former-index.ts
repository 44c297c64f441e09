import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { IndexDatabase } from "../../src/db/index/database.ts";
import { allMessages } from "../../src/db/index/messages/live-messages.ts";
import { COPIED_TABLES } from "../../src/db/index/upgrade/copied-tables.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";

const SCHEMA = readFileSync(join(import.meta.dir, "former-index.sql"), "utf8");

/**
 * Writes an index in the former format with the content of an index: signed messages, tables that are copied, and totals.
 * Its other derived tables stay empty.
 */
export function writeFormerIndex(path: string, from: IndexDatabase): void {
  const to = new Database(path, { create: true, strict: true });
  to.exec("PRAGMA journal_mode = WAL");
  to.exec(SCHEMA);
  to.exec("BEGIN");
  const insert = to.prepare(
    "INSERT INTO messages (fid, store, slot, kind, timestamp, hash, bytes) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  // In an order that is neither that of the slots nor that of time, as messages arrive.
  const messages = allMessages(from, FarcasterNetwork.FARCASTER_NETWORK_MAINNET)
    .toArray()
    .sort((a, b) => Buffer.compare(a.hash, b.hash));
  for (const message of messages) {
    const { fid, store, slot, kind, timestamp, hash } = message;
    insert.run(fid, store, slot, kind, timestamp, hash, message.encode());
  }
  to.prepare("INSERT INTO totals (name, count) VALUES ('messages', ?)").run(messages.length);
  for (const table of ["meta", ...COPIED_TABLES]) copyTable(from.sqlite, to, table);
  to.exec("COMMIT");
  to.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  to.close();
}

function copyTable(from: Database, to: Database, table: string): void {
  // Of the columns of today, those that the former format had.
  const columns = to
    .query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)")
    .all(table)
    .map(({ name }) => name)
    .join(", ");
  const rows = from.query(`SELECT ${columns} FROM ${table}`).values();
  if (rows.length === 0) return;
  const places = Array.from(rows[0] ?? [], () => "?").join(", ");
  const insert = to.prepare(`INSERT INTO ${table} (${columns}) VALUES (${places})`);
  for (const row of rows) insert.run(...(row as never[]));
}
