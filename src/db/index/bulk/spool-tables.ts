import type { IndexDatabase } from "../database.ts";
import { bulkStatement } from "./bulk-statement.ts";

/**
 * The tables of the spool. None has an index: rows are only appended. `envelopes`, `message_signers`, `urls` and `messages`
 * are written to the tables of the index at once, because their rows are in order of arrival there too.
 *
 * `first_id` with `hash` names a cast: its id is not known before all casts are. Casts are in tables by week, so that each
 * can be sorted by itself.
 */
const TABLES: Readonly<Record<string, string>> = {
  bulk_state: "key TEXT PRIMARY KEY, value",
  bulk_indexes: "name TEXT PRIMARY KEY, table_name TEXT, sql TEXT",
  bulk_weeks: "week INTEGER PRIMARY KEY",
  bulk_fids: "fid INTEGER PRIMARY KEY",
  bulk_replies: "first_id, hash, fid, parent_hash, parent_fid",
  bulk_quotes: "first_id, hash, quoted_hash, quoted_fid",
  bulk_mentions: "first_id, hash, fid, mentioned_fid",
  bulk_embed_urls: "first_id, hash, url",
  bulk_search_texts: "first_id, hash, text",
  bulk_reactions: "fid, type, target_fid, target_hash, url_id, timestamp, rank, envelope_id",
  bulk_links: "fid, type, target_fid, timestamp, displayed_at, rank, envelope_id",
  bulk_user_data: "fid, type, value, timestamp, rank, envelope_id",
  bulk_cast_removes: "message_id, fid, hash",
  bulk_reaction_removes: "message_id, fid, type, target_fid, target_hash, url, timestamp",
  bulk_link_removes: "message_id, fid, type, target_fid, timestamp",
  bulk_compacts: "message_id, fid",
  bulk_verifications: "message_id, fid, address, protocol, timestamp",
  bulk_lends: "message_id, fid, to_fid, unit_type, units",
};

const createWeek = bulkStatement<unknown, [week: number]>(
  "bulk.weeks.add",
  "INSERT OR IGNORE INTO bulk_weeks (week) VALUES (?)",
);
const listWeeks = bulkStatement<{ week: number }>(
  "bulk.weeks.all",
  "SELECT week FROM bulk_weeks ORDER BY week",
);
const listTables = bulkStatement<{ name: string }>(
  "bulk.tables",
  "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'bulk_*'",
);

export function createSpoolTables(db: IndexDatabase): void {
  for (const [name, columns] of Object.entries(TABLES))
    db.run({ name: `bulk.create ${name}`, sql: `CREATE TABLE ${name} (${columns})` });
}

/** The table of the casts of a week. */
export function weekTable(week: number): string {
  return `bulk_casts_${week}`;
}

/** Creates the table of a week unless it exists. */
export function addWeek(db: IndexDatabase, week: number): void {
  if (db.run(createWeek, week) === 0) return;
  const columns = "first_id, hash, fid, text, parent_url_id, rest, envelope_id";
  db.run({ name: "bulk.create week", sql: `CREATE TABLE ${weekTable(week)} (${columns})` });
}

/** The weeks that have casts, in order. */
export function weeksOf(db: IndexDatabase): number[] {
  return db.all(listWeeks).map(({ week }) => week);
}

/** Drops a table, if it is there. */
export function dropTable(db: IndexDatabase, name: string): void {
  db.run({ name: `bulk.drop ${name}`, sql: `DROP TABLE IF EXISTS ${name}` });
}

/** The tables of the build that exist. */
export function bulkTables(db: IndexDatabase): string[] {
  return db.all(listTables).map(({ name }) => name);
}
