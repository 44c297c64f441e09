import type { Kind, Store } from "../../../protocol/message/merge-rules.ts";
import { Kind as Kinds } from "../../../protocol/message/merge-rules.ts";
import type { IndexDatabase } from "../database.ts";
import type { GenericColumns, MessageEnvelope } from "../messages/columns.ts";
import { statement } from "../statement.ts";

/** A row of `messages`. `timestamp` is in Farcaster seconds. */
export interface OtherMessageRow {
  readonly id: number;
  readonly fid: number;
  readonly store: Store;
  readonly slot: Uint8Array;
  readonly kind: Kind;
  readonly timestamp: number;
  readonly signerId: number;
  readonly signature: Uint8Array;
  readonly data: Uint8Array;
}

const COLUMNS = "id, fid, store, slot, kind, timestamp, signer_id AS signerId, signature, data";

const insertMessage = statement<
  unknown,
  [
    fid: number,
    store: number,
    slot: Uint8Array,
    kind: number,
    timestamp: number,
    signerId: number,
    signature: Uint8Array,
    data: Uint8Array,
  ]
>(
  "messages.insert",
  `INSERT INTO messages (fid, store, slot, kind, timestamp, signer_id, signature, data)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
);
const deleteMessage = statement<unknown, [id: number]>(
  "messages.delete",
  "DELETE FROM messages WHERE id = ?",
);
const bySlot = statement<OtherMessageRow, [fid: number, store: number, slot: Uint8Array]>(
  "messages.by-slot",
  `SELECT ${COLUMNS} FROM messages WHERE fid = ? AND store = ? AND slot = ?`,
);
const bySlotRange = statement<
  OtherMessageRow,
  [fid: number, store: number, from: Uint8Array, below: Uint8Array, maxTimestamp: number]
>(
  "messages.by-slot-range",
  `SELECT ${COLUMNS} FROM messages WHERE fid = ? AND store = ? AND slot >= ? AND slot < ? AND timestamp <= ?`,
);
const nthOldest = statement<{ timestamp: number }, [fid: number, store: number, skipped: number]>(
  "messages.nth-oldest",
  `SELECT timestamp FROM messages WHERE fid = ? AND store = ? AND kind != ${Kinds.Compact}
   ORDER BY timestamp LIMIT 1 OFFSET ?`,
);
const oldest = statement<OtherMessageRow, [fid: number, store: number, maxTimestamp: number]>(
  "messages.oldest",
  `SELECT ${COLUMNS} FROM messages
   WHERE fid = ? AND store = ? AND timestamp <= ? AND kind != ${Kinds.Compact}`,
);

export function findOtherMessage(
  db: IndexDatabase,
  fid: number,
  store: Store,
  slot: Uint8Array,
): OtherMessageRow | undefined {
  return db.get(bySlot, fid, store, slot);
}

/** Returns the rows whose slots start with `prefix`, up to and including `maxTimestamp` (Farcaster seconds). */
export function otherMessagesWithPrefix(
  db: IndexDatabase,
  fid: number,
  store: Store,
  prefix: Uint8Array,
  maxTimestamp: number,
): OtherMessageRow[] {
  return db.all(bySlotRange, fid, store, prefix, afterPrefix(prefix), maxTimestamp);
}

/** Returns at least the `count` oldest rows of a store without compact states, plus all others of the same seconds. */
export function oldestOtherMessages(
  db: IndexDatabase,
  fid: number,
  store: Store,
  count: number,
): OtherMessageRow[] {
  const last = db.get(nthOldest, fid, store, count - 1)?.timestamp;
  return db.all(oldest, fid, store, last ?? Number.MAX_SAFE_INTEGER);
}

export function addOtherMessage(db: IndexDatabase, message: GenericColumns, envelope: MessageEnvelope): void {
  const { fid, store, slot, kind, timestamp } = message;
  const { signer, signature, data } = envelope;
  if (data === null) throw new Error("a message without a table of its own needs its data");
  db.run(insertMessage, fid, store, slot, kind, timestamp, db.signers.of(db, signer), signature, data);
}

export function dropOtherMessage(db: IndexDatabase, { id }: OtherMessageRow): void {
  db.run(deleteMessage, id);
}

/** Returns the smallest byte string above all that start with `prefix`. The last byte of a prefix is never 0xff here. */
function afterPrefix(prefix: Uint8Array): Uint8Array {
  const end = Uint8Array.from(prefix);
  const last = end.length - 1;
  end[last] = (end[last] ?? 0) + 1;
  return end;
}
