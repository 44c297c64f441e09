import { closeSync, openSync, readSync, statSync } from "node:fs";

const HEADER_BYTES = 32;
const CHECKED_BYTES = 24;
/** The last bit is the byte order of the checksums. */
const MAGIC = 0x377f0682;
const FORMAT = 3_007_000;

/**
 * Whether SQLite will read the write-ahead log at `path`. SQLite silently treats a log with a damaged header as empty, which
 * loses the last commits. True when there is no log, or an empty one.
 */
export function isReadableWal(path: string): boolean {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return true;
  const header = new Uint8Array(HEADER_BYTES);
  const file = openSync(path, "r");
  try {
    readSync(file, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(file);
  }
  // After a power failure a file can be longer than its data. Nothing was committed to it then.
  if (header.every((byte) => byte === 0)) return true;
  return size >= HEADER_BYTES && isHeader(new DataView(header.buffer));
}

function isHeader(header: DataView): boolean {
  const magic = header.getUint32(0);
  if ((magic & ~1) >>> 0 !== MAGIC || header.getUint32(4) !== FORMAT) return false;
  const isLittleEndian = (magic & 1) === 0;
  let [s1, s2] = [0, 0];
  for (let at = 0; at < CHECKED_BYTES; at += 8) {
    s1 = (s1 + header.getUint32(at, isLittleEndian) + s2) >>> 0;
    s2 = (s2 + header.getUint32(at + 4, isLittleEndian) + s1) >>> 0;
  }
  return header.getUint32(24) === s1 && header.getUint32(28) === s2;
}
