import type { SqliteConnection } from "../sqlite/connection.ts";
import { statement } from "./statement.ts";

/** The objects in responses that commits changed. */
export interface InvalidationsSince {
  /** Number of the last commit included. */
  readonly seq: number;
  /** Whether more objects changed than can be listed; if so, the lists are empty. */
  readonly everything: boolean;
  readonly fids: readonly number[];
  readonly castIds: readonly number[];
  readonly channelIds: readonly string[];
}

/** Number of commits whose changes are retained. A reader that missed more clears its cache. */
const RETAINED_COMMITS = 256;
/** Above this size, applying the list costs a reader more than clearing its cache. */
const MAX_LISTED = 4096;
const ID_BYTES = 8;

const insertChanges = statement<
  unknown,
  [everything: number, fids: Uint8Array, castIds: Uint8Array, channelIds: string]
>("touched.insert", "INSERT INTO touched (everything, fids, cast_ids, channel_ids) VALUES (?, ?, ?, ?)");
const trimChanges = statement(
  "touched.trim",
  `DELETE FROM touched WHERE seq <= (SELECT max(seq) FROM touched) - ${RETAINED_COMMITS}`,
);
const lastChange = statement<{ seq: number | null }>("touched.last", "SELECT max(seq) AS seq FROM touched");
const changesSince = statement<
  { seq: number; everything: number; fids: Uint8Array; castIds: Uint8Array; channelIds: string },
  [seq: number]
>(
  "touched.since",
  `SELECT seq, everything, fids, cast_ids AS castIds, channel_ids AS channelIds FROM touched
   WHERE seq > ? ORDER BY seq LIMIT ${RETAINED_COMMITS}`,
);

/**
 * Records the objects whose presented state a transaction changes. Code that writes a row from which a User, Cast or Channel
 * is built records the object here. The transaction stores the record as its last step.
 */
export class InvalidationRecorder {
  readonly #fids = new Set<number>();
  readonly #castIds = new Set<number>();
  readonly #channelIds = new Set<string>();
  #everything = false;

  user(fid: number): void {
    this.#fids.add(fid);
  }

  cast(id: number): void {
    this.#castIds.add(id);
  }

  channel(id: string): void {
    this.#channelIds.add(id);
  }

  everything(): void {
    this.#everything = true;
  }

  /** Discards the record of a transaction that was rolled back. */
  clear(): void {
    this.#fids.clear();
    this.#castIds.clear();
    this.#channelIds.clear();
    this.#everything = false;
  }

  flush(db: SqliteConnection): void {
    const largest = Math.max(this.#fids.size, this.#castIds.size, this.#channelIds.size);
    if (largest === 0 && !this.#everything) return;
    if (this.#everything || largest > MAX_LISTED) {
      db.run(insertChanges, 1, new Uint8Array(), new Uint8Array(), "[]");
    } else {
      const channelIds = JSON.stringify([...this.#channelIds]);
      db.run(insertChanges, 0, packIds(this.#fids), packIds(this.#castIds), channelIds);
    }
    db.run(trimChanges);
    this.clear();
  }
}

/** Returns the number of the last commit with recorded changes. */
export function lastInvalidationSeq(db: SqliteConnection): number {
  return db.get(lastChange)?.seq ?? 0;
}

/** Returns the changes of the commits after number `since`; undefined if there are none. */
export function readInvalidations(db: SqliteConnection, since: number): InvalidationsSince | undefined {
  const last = lastInvalidationSeq(db);
  if (last === since) return undefined;
  const rows = db.all(changesSince, since);
  // Fewer rows than commits: the reader missed commits, or the database was replaced.
  if (rows.length !== last - since || rows.some((row) => row.everything === 1)) {
    return { seq: last, everything: true, fids: [], castIds: [], channelIds: [] };
  }
  return {
    seq: last,
    everything: false,
    fids: rows.flatMap((row) => unpackIds(row.fids)),
    castIds: rows.flatMap((row) => unpackIds(row.castIds)),
    channelIds: rows.flatMap((row): string[] => JSON.parse(row.channelIds)),
  };
}

function packIds(ids: ReadonlySet<number>): Uint8Array {
  const packed = Buffer.alloc(ids.size * ID_BYTES);
  let at = 0;
  for (const id of ids) at = packed.writeDoubleLE(id, at);
  return packed;
}

function unpackIds(packed: Uint8Array): number[] {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  return Array.from({ length: bytes.length / ID_BYTES }, (_, at) => bytes.readDoubleLE(at * ID_BYTES));
}
