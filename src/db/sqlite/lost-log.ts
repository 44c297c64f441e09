import { closeSync, openSync, readFileSync, statSync } from "node:fs";
import { endianness, uptime } from "node:os";
import { companionsOf } from "./open.ts";
import { recoverableFrames } from "./wal-frames.ts";

const FORMAT = 3_007_000;
/** The shared memory starts with two copies of a header, followed by how many pages of the log are in the database file. */
const COPY_BYTES = 48;
const BACKFILLED_AT = 2 * COPY_BYTES;
/** Offsets in the header. */
const INITIALIZED_AT = 12;
const PAGE_SIZE_AT = 14;
const FRAMES_AT = 16;

/** A log without commits that its database had made. */
export interface LostLog {
  /** Pages of the last commits that are neither in the log nor in the database file. */
  readonly pages: number;
  /** When the log was last used, in Unix milliseconds. */
  readonly usedAtMs: number;
}

/**
 * Checks whether the write-ahead log of a database was cut or deleted since its process was killed: the shared memory, which
 * survives a kill, says how long the log was. Call it before the first connection of this process, because closing the
 * descriptor that reads the shared memory releases its locks.
 *
 * @returns undefined if nothing is lost, or if it cannot be known: after a clean stop, and after the machine has restarted,
 * because a power failure may lose the last unsynced commits from the log but not from the shared memory.
 */
export function findLostLog(file: string): LostLog | undefined {
  const [log = "", shared = ""] = companionsOf(file);
  const found = statSync(shared, { throwIfNoEntry: false });
  if (!found || found.mtimeMs < Date.now() - uptime() * 1000) return undefined;
  const bytes = readFileSync(shared);
  if (bytes.length < BACKFILLED_AT + 4 || !isConsistent(bytes)) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const isLittleEndian = endianness() === "LE";
  if (view.getUint32(0, isLittleEndian) !== FORMAT) return undefined;
  const frames = view.getUint32(FRAMES_AT, isLittleEndian);
  const backfilled = view.getUint32(BACKFILLED_AT, isLittleEndian);
  if (frames <= backfilled) return undefined;
  // 65,536 does not fit into two bytes and is stored as 1.
  const pageSize = view.getUint16(PAGE_SIZE_AT, isLittleEndian);
  const left = framesIn(log, frames, pageSize === 1 ? 65_536 : pageSize);
  return left >= frames ? undefined : { pages: frames - Math.max(left, backfilled), usedAtMs: found.mtimeMs };
}

/** Reports whether SQLite had finished writing the header. */
function isConsistent(bytes: Buffer): boolean {
  const copy = bytes.subarray(0, COPY_BYTES);
  return bytes[INITIALIZED_AT] === 1 && copy.equals(bytes.subarray(COPY_BYTES, 2 * COPY_BYTES));
}

function framesIn(log: string, maxFrames: number, pageBytes: number): number {
  if (!statSync(log, { throwIfNoEntry: false })) return 0;
  const file = openSync(log, "r");
  try {
    return recoverableFrames(file, maxFrames, pageBytes);
  } finally {
    closeSync(file);
  }
}
