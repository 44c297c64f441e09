import type { IndexDatabase } from "./database.ts";
import { statement } from "./statement.ts";

/** The kind of a record: a message, an on-chain event, an event of shard 0, or a hub event. */
export type UnknownKind = "message" | "on_chain_event" | "block_event" | "hub_event";

/** A decided record of a kind that this program does not know. */
export interface UnknownRecord {
  readonly kind: UnknownKind;
  /** Number of its type; 0 if it cannot be decoded. */
  readonly number: number;
  readonly shard: number;
  readonly block: number;
  /** Number of shard 0's event, or the id of a hub event. */
  readonly position: number;
  /** As received. */
  readonly bytes: Uint8Array;
}

/** How many records of one kind have arrived. */
export interface UnknownCount {
  readonly kind: string;
  readonly number: number;
  readonly seen: number;
  /** Those that were not kept because there was no room. */
  readonly dropped: number;
  /** Unix seconds. */
  readonly lastAt: number;
}

/** Maximum total size of all kept records, in bytes. */
export const MAX_UNKNOWN_BYTES = 64 * 1024 * 1024;
/** Numbers beyond this are counted together, because an upstream can invent any number of them. */
const MAX_KINDS = 256;
const OTHERS = -1;

const insertRecord = statement<
  unknown,
  [kind: string, number: number, shard: number, block: number, position: number, bytes: Uint8Array]
>(
  "unknown-records.insert",
  "INSERT INTO unknown_records (kind, number, shard, block, position, bytes) VALUES (?, ?, ?, ?, ?, ?)",
);
const countKind = statement<unknown, [kind: string, number: number, dropped: number, nowSecs: number]>(
  "unknown-records.count",
  `INSERT INTO unknown_kinds (kind, number, seen, dropped, last_at) VALUES (?1, ?2, 1, ?3, ?4)
   ON CONFLICT (kind, number) DO UPDATE SET seen = seen + 1, dropped = dropped + ?3, last_at = ?4`,
);
const countDropped = statement<unknown, [kind: string, number: number]>(
  "unknown-records.count-dropped",
  "UPDATE unknown_kinds SET dropped = dropped + 1 WHERE kind = ? AND number = ?",
);
const kinds = statement<UnknownCount, [limit: number]>(
  "unknown-records.kinds",
  `SELECT kind, number, seen, dropped, last_at AS lastAt FROM unknown_kinds WHERE kind >= '' ORDER BY kind, number LIMIT ?`,
);
const isKindKnown = statement<{ one: number }, [kind: string, number: number]>(
  "unknown-records.has-kind",
  "SELECT 1 AS one FROM unknown_kinds WHERE kind = ? AND number = ?",
);
const oldest = statement<{ id: number; kind: string; number: number; size: number }>(
  "unknown-records.oldest",
  "SELECT id, kind, number, length(bytes) AS size FROM unknown_records WHERE id > 0 ORDER BY id LIMIT 1",
);
const keptBytes = statement<{ bytes: number | null }>(
  "unknown-records.kept-bytes",
  "SELECT sum(length(bytes)) AS bytes FROM unknown_records WHERE id > 0",
);
const dropRecord = statement<unknown, [id: number]>(
  "unknown-records.drop",
  "DELETE FROM unknown_records WHERE id = ?",
);
const recordsAfter = statement<UnknownRecord & { id: number }, [id: number, limit: number]>(
  "unknown-records.after",
  `SELECT id, kind, number, shard, block, position, bytes FROM unknown_records WHERE id > ? ORDER BY id LIMIT ?`,
);

/** Bytes kept by each connection's writer, so that not every insertion adds them up. */
const keptBy = new WeakMap<IndexDatabase, number>();

/** Keeps and counts a record in the transaction of its block. Deletes the oldest records if there is no room. */
export function keepUnknown(
  db: IndexDatabase,
  record: UnknownRecord,
  nowSecs: number,
  maxBytes = MAX_UNKNOWN_BYTES,
): void {
  const { kind, shard, block, position, bytes } = record;
  const number = countedNumber(db, record);
  const fits = bytes.length <= maxBytes;
  db.run(countKind, kind, number, Number(!fits), nowSecs);
  if (!fits) return;
  db.run(insertRecord, kind, record.number, shard, block, position, bytes);
  let kept = (keptBy.get(db) ?? (db.get(keptBytes)?.bytes ?? 0) - bytes.length) + bytes.length;
  while (kept > maxBytes) {
    const first = db.get(oldest);
    if (!first) break;
    db.run(dropRecord, first.id);
    db.run(countDropped, first.kind, countedNumber(db, first));
    kept -= first.size;
  }
  keptBy.set(db, kept);
}

function countedNumber(db: IndexDatabase, { kind, number }: { kind: string; number: number }): number {
  const isListed = db.get(isKindKnown, kind, number) !== undefined || unknownCounts(db).length < MAX_KINDS;
  return isListed ? number : OTHERS;
}

/** Returns the kinds of unknown records, with how many have arrived. */
export function unknownCounts(db: IndexDatabase): UnknownCount[] {
  return db.all(kinds, MAX_KINDS + 4);
}

/** Returns the kept records after `id`, the oldest first. */
export function unknownAfter(
  db: IndexDatabase,
  id: number,
  limit: number,
): (UnknownRecord & { readonly id: number })[] {
  return db.all(recordsAfter, id, limit);
}

/** Removes a kept record that was applied. */
export function dropUnknown(db: IndexDatabase, id: number): void {
  db.run(dropRecord, id);
  keptBy.delete(db);
}
