import type { IndexDatabase } from "../db/index/database.ts";
import { type ThreadRoot, threadRootOf } from "../db/index/project/casts.ts";
import { project, retract } from "../db/index/project/project.ts";
import { statement } from "../db/index/statement.ts";
import { type TotalsDelta, totalOf } from "../db/index/totals.ts";
import { Kind, type MessageSlot, type Rank, type Store } from "../protocol/merge-rules.ts";
import { decodeMessage, encodeMessage, type SignedMessage } from "../protocol/signed-message.ts";
import type { ChangeTracker } from "./change-tracker.ts";
import type { StorageLimitCache } from "./storage-limits.ts";

/** A row of a live message. */
export interface MessageRow extends Rank {
  readonly id: number;
  readonly bytes: Uint8Array;
}

const COLUMNS = "id, kind, timestamp, hash, bytes";

const bySlot = statement<MessageRow, [fid: number, store: number, slot: Uint8Array]>(
  "messages.by-slot",
  `SELECT ${COLUMNS} FROM messages WHERE fid = ? AND store = ? AND slot = ?`,
);
const bySlotRange = statement<
  MessageRow,
  [fid: number, store: number, from: Uint8Array, below: Uint8Array, maxTimestamp: number]
>(
  "messages.by-slot-range",
  `SELECT ${COLUMNS} FROM messages WHERE fid = ? AND store = ? AND slot >= ? AND slot < ? AND timestamp <= ?`,
);
const oldest = statement<MessageRow, [fid: number, store: number, limit: number]>(
  "messages.oldest",
  `SELECT ${COLUMNS} FROM messages WHERE fid = ? AND store = ? AND kind != ${Kind.Compact}
   ORDER BY timestamp, hash LIMIT ?`,
);
const insertMessage = statement<
  unknown,
  [
    fid: number,
    store: number,
    slot: Uint8Array,
    kind: number,
    timestamp: number,
    hash: Uint8Array,
    bytes: Uint8Array,
  ]
>(
  "messages.insert",
  "INSERT INTO messages (fid, store, slot, kind, timestamp, hash, bytes) VALUES (?, ?, ?, ?, ?, ?, ?)",
);
const deleteMessage = statement<unknown, [id: number]>(
  "messages.delete",
  "DELETE FROM messages WHERE id = ?",
);
const usedOf = statement<{ used: number }, [fid: number, store: number]>(
  "store-counts.used",
  "SELECT used FROM store_counts WHERE fid = ? AND store = ?",
);
const addUsed = statement<unknown, [fid: number, store: number, by: number]>(
  "store-counts.add",
  `INSERT INTO store_counts (fid, store, used) VALUES (?1, ?2, ?3)
   ON CONFLICT (fid, store) DO UPDATE SET used = used + ?3`,
);
const dropUnused = statement<unknown, [fid: number, store: number]>(
  "store-counts.drop-unused",
  "DELETE FROM store_counts WHERE fid = ? AND store = ? AND used = 0",
);

/** The live messages, with the read model and the counts derived from them. Used inside a write transaction. */
export class MessageStore {
  readonly #db: IndexDatabase;
  readonly #totals: TotalsDelta;
  readonly #limits: StorageLimitCache;
  readonly #changes: ChangeTracker;

  constructor(db: IndexDatabase, totals: TotalsDelta, limits: StorageLimitCache, changes: ChangeTracker) {
    this.#db = db;
    this.#totals = totals;
    this.#limits = limits;
    this.#changes = changes;
  }

  /** Returns the message in a slot of an fid. */
  get(fid: number, store: Store, slot: Uint8Array): MessageRow | undefined {
    return this.#db.get(bySlot, fid, store, slot);
  }

  /**
   * Returns the live messages whose slots start with `prefix`, up to and including `maxTimestamp` (Farcaster
   * seconds).
   */
  withPrefix(fid: number, store: Store, prefix: Uint8Array, maxTimestamp: number): MessageRow[] {
    return this.#db.all(bySlotRange, fid, store, prefix, afterPrefix(prefix), maxTimestamp);
  }

  /** Returns the `count` messages that a full store loses first. Compact states are never among them. */
  oldest(fid: number, store: Store, count: number): MessageRow[] {
    return this.#db.all(oldest, fid, store, count);
  }

  /** Returns the number of live messages, remove messages and compact states included. */
  count(fid: number, store: Store): number {
    return this.#db.get(usedOf, fid, store)?.used ?? 0;
  }

  put(message: SignedMessage, { store, slot, kind }: MessageSlot): void {
    const { fid, timestamp } = message.data;
    const bytes = encodeMessage(message);
    this.#db.run(insertMessage, fid, store, slot, kind, timestamp, message.hash, bytes);
    this.#db.run(addUsed, fid, store, 1);
    this.#count(message, 1);
    project(this.#db, message);
    this.#changes.trackAdded(message, bytes);
  }

  /** Removes a live message and all that is derived from it. Returns the message. */
  remove(stored: MessageRow, fid: number, store: Store): SignedMessage {
    const message = decodeStored(stored.bytes);
    this.#changes.trackRemoved(message, stored.bytes, this.#rootOf(message));
    retract(this.#db, message);
    this.#db.run(deleteMessage, stored.id);
    this.#db.run(addUsed, fid, store, -1);
    this.#db.run(dropUnused, fid, store);
    this.#count(message, -1);
    return message;
  }

  /** Returns the thread of a cast that is being removed, if changes are tracked. */
  #rootOf({ data, hash }: SignedMessage): ThreadRoot | undefined {
    if (!this.#changes.isTracking || data.body?.$case !== "castAddBody") return undefined;
    return threadRootOf(this.#db, data, data.body.value, hash);
  }

  #count(message: SignedMessage, by: 1 | -1): void {
    this.#totals.add("messages", by);
    const total = totalOf(message);
    if (total) this.#totals.add(total, by);
    // The limits of both fids of a lend change.
    const body = message.data.body;
    if (body?.$case === "lendStorageBody") {
      this.#limits.invalidate(message.data.fid);
      this.#limits.invalidate(body.value.toFid);
    }
  }
}

/** Decodes bytes that this node stored itself. Throws if they are anything else: the database is then corrupt. */
export function decodeStored(bytes: Uint8Array): SignedMessage {
  const message = decodeMessage(bytes);
  if (!message.ok) throw new Error(`stored message is unreadable: ${message.error.reason}`);
  return message.value;
}

/** Returns the least byte string above all that start with `prefix`. The last byte of a prefix is never 0xff here. */
function afterPrefix(prefix: Uint8Array): Uint8Array {
  const end = Uint8Array.from(prefix);
  const last = end.length - 1;
  end[last] = (end[last] ?? 0) + 1;
  return end;
}
