import type { SqliteConnection } from "../sqlite/connection.ts";
import { statement } from "./statement.ts";

/** What commits changed of the objects that answers show. */
export interface InvalidationsSince {
  /** Number of the last commit that this covers. */
  readonly seq: number;
  /** The changes are more than are listed. */
  readonly everything: boolean;
  readonly fids: readonly number[];
  /** Hashes of casts, hex without `0x`. */
  readonly hashes: readonly string[];
  readonly channelIds: readonly string[];
}

/** Commits whose changes are kept. A reader that slept through more starts with nothing. */
const KEPT_COMMITS = 256;
/** Above this a list costs readers more than to start with nothing. */
const MAX_LISTED = 4096;
const FID_BYTES = 8;
const HASH_BYTES = 20;

const insertTouched = statement<
  unknown,
  [everything: number, fids: Uint8Array, hashes: Uint8Array, channelIds: string]
>("touched.insert", "INSERT INTO touched (everything, fids, hashes, channel_ids) VALUES (?, ?, ?, ?)");
const trimTouched = statement(
  "touched.trim",
  `DELETE FROM touched WHERE seq <= (SELECT max(seq) FROM touched) - ${KEPT_COMMITS}`,
);
const lastTouched = statement<{ seq: number | null }>("touched.last", "SELECT max(seq) AS seq FROM touched");
const touchedSince = statement<
  { seq: number; everything: number; fids: Uint8Array; hashes: Uint8Array; channelIds: string },
  [seq: number]
>(
  "touched.since",
  `SELECT seq, everything, fids, hashes, channel_ids AS channelIds FROM touched
   WHERE seq > ? ORDER BY seq LIMIT ${KEPT_COMMITS}`,
);

/**
 * The objects whose shown state one transaction changes. Whoever writes a row that a User, a Cast or a Channel is made of
 * says so here; the transaction writes it down as its last step.
 */
export class InvalidationRecorder {
  readonly #fids = new Set<number>();
  readonly #hashes = new Set<string>();
  readonly #channelIds = new Set<string>();
  #everything = false;

  user(fid: number): void {
    this.#fids.add(fid);
  }

  cast(hash: Uint8Array): void {
    this.#hashes.add(hash.toHex());
  }

  channel(id: string): void {
    this.#channelIds.add(id);
  }

  everything(): void {
    this.#everything = true;
  }

  /** Forgets what a transaction that was rolled back had touched. */
  clear(): void {
    this.#fids.clear();
    this.#hashes.clear();
    this.#channelIds.clear();
    this.#everything = false;
  }

  flush(db: SqliteConnection): void {
    const most = Math.max(this.#fids.size, this.#hashes.size, this.#channelIds.size);
    if (most === 0 && !this.#everything) return;
    if (this.#everything || most > MAX_LISTED) {
      db.run(insertTouched, 1, new Uint8Array(), new Uint8Array(), "[]");
    } else {
      const hashes = Uint8Array.fromHex([...this.#hashes].join(""));
      db.run(insertTouched, 0, packFids(this.#fids), hashes, JSON.stringify([...this.#channelIds]));
    }
    db.run(trimTouched);
    this.clear();
  }
}

/** Number of the last commit whose changes are listed. */
export function lastInvalidationSeq(db: SqliteConnection): number {
  return db.get(lastTouched)?.seq ?? 0;
}

/** What commits touched since the one numbered `since`; undefined when there was none. */
export function readInvalidations(db: SqliteConnection, since: number): InvalidationsSince | undefined {
  const last = lastInvalidationSeq(db);
  if (last === since) return undefined;
  const rows = db.all(touchedSince, since);
  // Fewer rows than commits: the reader slept, or this is another database than before.
  if (rows.length !== last - since || rows.some((row) => row.everything === 1)) {
    return { seq: last, everything: true, fids: [], hashes: [], channelIds: [] };
  }
  return {
    seq: last,
    everything: false,
    fids: rows.flatMap((row) => unpackFids(row.fids)),
    hashes: rows.flatMap((row) => unpackHashes(row.hashes)),
    channelIds: rows.flatMap((row): string[] => JSON.parse(row.channelIds)),
  };
}

function packFids(fids: ReadonlySet<number>): Uint8Array {
  const packed = Buffer.alloc(fids.size * FID_BYTES);
  let at = 0;
  for (const fid of fids) at = packed.writeDoubleLE(fid, at);
  return packed;
}

function unpackFids(packed: Uint8Array): number[] {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  return Array.from({ length: bytes.length / FID_BYTES }, (_, at) => bytes.readDoubleLE(at * FID_BYTES));
}

function unpackHashes(packed: Uint8Array): string[] {
  const hex = packed.toHex();
  const chars = HASH_BYTES * 2;
  return Array.from({ length: packed.length / HASH_BYTES }, (_, at) =>
    hex.slice(at * chars, (at + 1) * chars),
  );
}
