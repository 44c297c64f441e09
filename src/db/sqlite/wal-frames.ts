import { closeSync, openSync, readSync, statSync } from "node:fs";

const HEADER_BYTES = 32;
const CHECKED_BYTES = 24;
const FRAME_HEADER_BYTES = 24;
/** Checksummed part of a frame's header: the page number and the size of the database after a commit. */
const FRAME_CHECKED_BYTES = 8;
/** The last bit is the byte order of the checksums. */
const MAGIC = 0x377f0682;
const FORMAT = 3_007_000;

/** Returns the size, in bytes, of a write-ahead log with `frames` pages. */
export function logBytes(frames: number, pageBytes: number): number {
  return HEADER_BYTES + frames * (FRAME_HEADER_BYTES + pageBytes);
}

/**
 * Reports whether SQLite will read the write-ahead log at `path`. SQLite silently treats a log with a damaged header as
 * empty, which loses the last commits. True if there is no log, or an empty one.
 */
export function isReadableWal(path: string): boolean {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return true;
  const file = openSync(path, "r");
  try {
    const header = readLogHeader(file);
    // After a power failure a file can be longer than its data. Nothing was committed to it then.
    if (header === undefined || header.every((byte) => byte === 0)) return size >= HEADER_BYTES;
    return isLogHeader(header);
  } finally {
    closeSync(file);
  }
}

/** Returns the header of an open log; undefined if the file is shorter. */
export function readLogHeader(file: number): Uint8Array | undefined {
  const header = new Uint8Array(HEADER_BYTES);
  return readSync(file, header, 0, HEADER_BYTES, 0) === HEADER_BYTES ? header : undefined;
}

/** Reports whether these bytes are a log header written by SQLite. */
export function isLogHeader(header: Uint8Array): boolean {
  const view = new DataView(header.buffer);
  const magic = view.getUint32(0);
  if ((magic & ~1) >>> 0 !== MAGIC || view.getUint32(4) !== FORMAT) return false;
  const sum = checksum([0, 0], view, 0, CHECKED_BYTES, (magic & 1) === 0);
  return view.getUint32(24) === sum[0] && view.getUint32(28) === sum[1];
}

/** Reports whether the log has a page at this position. Page numbers are never 0, so a hole in the file has none. */
export function hasFrame(file: number, at: number, pageBytes: number): boolean {
  const number = new Uint8Array(4);
  readSync(file, number, 0, 4, logBytes(at, pageBytes));
  return number.some((byte) => byte !== 0);
}

/**
 * Returns the number of pages of an open log that SQLite recovers after a kill: up to the last complete commit, as long as
 * salts and checksums match the header. Reads at most `maxFrames` of them.
 */
export function recoverableFrames(file: number, maxFrames: number, pageBytes: number): number {
  const header = readLogHeader(file);
  if (!header || !isLogHeader(header)) return 0;
  const isLittleEndian = ((header[3] ?? 0) & 1) === 0;
  const [top, frame] = [new DataView(header.buffer), new Uint8Array(FRAME_HEADER_BYTES + pageBytes)];
  const view = new DataView(frame.buffer);
  let sum: Checksum = [top.getUint32(24), top.getUint32(28)];
  let committed = 0;
  for (let at = 0; at < maxFrames; at++) {
    if (readSync(file, frame, 0, frame.length, logBytes(at, pageBytes)) < frame.length) break;
    sum = checksum(sum, view, 0, FRAME_CHECKED_BYTES, isLittleEndian);
    sum = checksum(sum, view, FRAME_HEADER_BYTES, frame.length, isLittleEndian);
    const hasSalts = view.getUint32(8) === top.getUint32(16) && view.getUint32(12) === top.getUint32(20);
    if (!hasSalts || view.getUint32(16) !== sum[0] || view.getUint32(20) !== sum[1]) break;
    if (view.getUint32(4) !== 0) committed = at + 1;
  }
  return committed;
}

type Checksum = readonly [number, number];

function checksum(
  sum: Checksum,
  view: DataView,
  from: number,
  to: number,
  isLittleEndian: boolean,
): Checksum {
  let [s1, s2] = sum;
  for (let at = from; at < to; at += 8) {
    s1 = (s1 + view.getUint32(at, isLittleEndian) + s2) >>> 0;
    s2 = (s2 + view.getUint32(at + 4, isLittleEndian) + s1) >>> 0;
  }
  return [s1, s2];
}
