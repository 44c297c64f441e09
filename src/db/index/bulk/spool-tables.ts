import { linkSlot, Store, slotOf } from "../../../protocol/message/merge-rules.ts";
import type { ReactionType } from "../../../protocol/wire/generated/message.ts";
import type { Statement } from "../../sqlite/statement-registry.ts";
import type { IndexDatabase } from "../database.ts";
import { linkTypeOf } from "../messages/columns.ts";
import { bulkStatement } from "./bulk-state.ts";

/**
 * The tables of the spool. None has an index, because rows are only appended. `envelopes`, `message_signers`, `urls` and
 * `messages` are written to the tables of the index directly, because their rows are in order of arrival there too.
 *
 * `first_id` with `hash` names a cast, whose id is not known until all casts are. Casts are in one table per week, so that
 * each week can be sorted by itself.
 */
const TABLES: Readonly<Record<string, string>> = {
  bulk_state: "key TEXT PRIMARY KEY, value",
  bulk_indexes: "name TEXT PRIMARY KEY, table_name TEXT, sql TEXT",
  bulk_weeks: "week INTEGER PRIMARY KEY",
  bulk_fids: "fid INTEGER PRIMARY KEY",
  bulk_parts: "shard, virtual_shard, height, fid, token, is_done, PRIMARY KEY (shard, virtual_shard)",
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

/** Returns the name of the table of a week's casts. */
export function weekTable(week: number): string {
  return `bulk_casts_${week}`;
}

/** Creates the table of a week unless it exists. */
export function addWeek(db: IndexDatabase, week: number): void {
  if (db.run(createWeek, week) === 0) return;
  const columns = "first_id, hash, fid, text, parent_url_id, rest, envelope_id";
  db.run({ name: "bulk.create week", sql: `CREATE TABLE ${weekTable(week)} (${columns})` });
}

/** Returns the weeks that have casts, in order. */
export function weeksOf(db: IndexDatabase): number[] {
  return db.all(listWeeks).map(({ week }) => week);
}

/** Drops a table if it exists. */
export function dropTable(db: IndexDatabase, name: string): void {
  db.run({ name: `bulk.drop ${name}`, sql: `DROP TABLE IF EXISTS ${name}` });
}

/** Returns the tables of the build that exist. */
export function bulkTables(db: IndexDatabase): string[] {
  return db.all(listTables).map(({ name }) => name);
}

const addFid = bulkStatement<unknown, [fid: number]>(
  "bulk.fids.add",
  "INSERT OR IGNORE INTO bulk_fids (fid) VALUES (?)",
);
const hasFid = bulkStatement<{ one: number }, [fid: number]>(
  "bulk.fids.has",
  "SELECT 1 AS one FROM bulk_fids WHERE fid = ?",
);
const selectAfter = bulkStatement<{ fid: number }, [fid: number, limit: number]>(
  "bulk.fids.after",
  "SELECT fid FROM bulk_fids WHERE fid > ? ORDER BY fid LIMIT ?",
);

/** Records that the spool has all messages of an fid. Runs in the transaction that appends the last of them. */
export function addSpooledFid(db: IndexDatabase, fid: number): void {
  db.run(addFid, fid);
}

/** Reports whether the spool of the bulk build has all messages of an fid. */
export function isSpooledFid(db: IndexDatabase, fid: number): boolean {
  return db.get(hasFid, fid) !== undefined;
}

/** Returns the next fids after `fid` whose messages are all in the spool of the bulk build. */
export function spooledFidsAfter(db: IndexDatabase, fid: number, limit: number): number[] {
  return db.all(selectAfter, fid, limit).map((row) => row.fid);
}

/** Progress of a virtual shard of a snapshot in the spool. */
export interface SpooledPart {
  readonly shard: number;
  readonly virtualShard: number;
  /** Height of the snapshot from which the remaining accounts are read. */
  readonly height: number;
  /** The last account that is in the spool; -1 before the first. */
  readonly fid: number;
  /** Token of the page on which the next account begins; null for the first page. */
  readonly token: string | null;
  readonly isDone: boolean;
}

const putPart = bulkStatement<
  unknown,
  [shard: number, virtualShard: number, height: number, fid: number, token: string | null, isDone: number]
>(
  "bulk.parts.put",
  "INSERT OR REPLACE INTO bulk_parts (shard, virtual_shard, height, fid, token, is_done) VALUES (?, ?, ?, ?, ?, ?)",
);
const selectParts = bulkStatement<Omit<SpooledPart, "isDone"> & { isDone: number }>(
  "bulk.parts.all",
  `SELECT shard, virtual_shard AS virtualShard, height, fid, token, is_done AS isDone FROM bulk_parts
   ORDER BY shard, virtual_shard`,
);

/** Records the progress of a virtual shard. Runs in the transaction that appends its messages. */
export function putSpooledPart(db: IndexDatabase, part: SpooledPart): void {
  const { shard, virtualShard, height, fid, token, isDone } = part;
  db.run(putPart, shard, virtualShard, height, fid, token, isDone ? 1 : 0);
}

/** Returns the virtual shards that were read, in whole or in part. */
export function spooledParts(db: IndexDatabase): SpooledPart[] {
  return db.all(selectParts).map((part) => ({ ...part, isDone: part.isDone === 1 }));
}

const lends = bulkStatement<{ data: Uint8Array; fid: number; toFid: number }, []>(
  "bulk.lends",
  "SELECT m.data, l.fid, l.to_fid AS toFid FROM bulk_lends l CROSS JOIN messages m ON m.id = l.message_id",
);

/** Yields the lends in the spool, with their signed bytes. */
export function* lendsInSpool(
  db: IndexDatabase,
): Generator<{ readonly data: Uint8Array; readonly fid: number; readonly toFid: number }> {
  if (bulkTables(db).includes("bulk_lends")) yield* db.iterate(lends);
}

interface SpooledSlot {
  readonly fid: number;
  readonly store: number;
  readonly slot: Uint8Array;
}

const others = bulkStatement<SpooledSlot, []>("bulk.slots.others", "SELECT fid, store, slot FROM messages");
const reactions = bulkStatement<{
  fid: number;
  type: number;
  targetFid: number;
  hash: Uint8Array | null;
  url: string | null;
}>(
  "bulk.slots.reactions",
  `SELECT r.fid, r.type, r.target_fid AS targetFid, r.target_hash AS hash, u.url
   FROM bulk_reactions r LEFT JOIN urls u ON u.id = r.url_id`,
);
const links = bulkStatement<{ fid: number; type: number | string; targetFid: number }>(
  "bulk.slots.links",
  "SELECT fid, type, target_fid AS targetFid FROM bulk_links",
);
const userData = bulkStatement<{ fid: number; type: number }>(
  "bulk.slots.user-data",
  "SELECT fid, type FROM bulk_user_data",
);

/** Yields the slots of the messages in the spool. */
export function* spooledSlots(db: IndexDatabase): Generator<SpooledSlot> {
  if (!bulkTables(db).includes("bulk_links")) return;
  yield* db.iterate(others);
  for (const week of weeksOf(db)) {
    const casts: Statement<SpooledSlot, []> = {
      name: "bulk.slots.casts",
      sql: `SELECT fid, ${Store.Casts} AS store, hash AS slot FROM ${weekTable(week)}`,
    };
    yield* db.iterate(casts);
  }
  for (const { fid, type, targetFid, hash, url } of db.iterate(reactions)) {
    const target = hash
      ? ({ $case: "targetCastId", value: { fid: targetFid, hash } } as const)
      : ({ $case: "targetUrl", value: url ?? "" } as const);
    const body = { $case: "reactionBody", value: { type: type as ReactionType, target } } as const;
    const { slot } = slotOf({ data: { body } as never, hash: new Uint8Array() });
    yield { fid, store: Store.Reactions, slot };
  }
  for (const { fid, type } of db.iterate(userData))
    yield { fid, store: Store.UserData, slot: Uint8Array.of(type) };
  for (const { fid, type, targetFid } of db.iterate(links))
    yield { fid, store: Store.Links, slot: linkSlot(linkTypeOf(type), targetFid) };
}
