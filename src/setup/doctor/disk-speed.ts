import { constants } from "node:fs";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { join } from "node:path";

/** How fast a directory's disk keeps data. */
export interface DiskSpeed {
  /** Milliseconds to write a page and sync it; the median. */
  readonly syncMs: number;
  /** Of a file that is written in order and then synced. */
  readonly bytesPerSecond: number;
}

const PAGE_BYTES = 4096;
const MAX_SYNCS = 25;
const CHUNK_BYTES = 1024 * 1024;
const MAX_BYTES = 32 * CHUNK_BYTES;
/** Of each of the two measurements. One write or sync may take longer. */
const BUDGET_MS = 1000;

/**
 * Measures with a file without a name, so that nothing stays behind whatever happens.
 *
 * @param maxBytes the most that it may write.
 * @throws the error of the system where a file cannot be created, written or synced.
 */
export async function measureDisk(dir: string, maxBytes: number): Promise<DiskSpeed> {
  const path = join(dir, `doctor-${crypto.randomUUID()}.tmp`);
  const file = await open(path, constants.O_CREAT | constants.O_EXCL | constants.O_RDWR, 0o600);
  try {
    await unlink(path);
    const syncMs = await timeSyncs(file);
    return { syncMs, bytesPerSecond: await timeWrites(file, Math.min(maxBytes, MAX_BYTES)) };
  } finally {
    await file.close();
  }
}

async function timeSyncs(file: FileHandle): Promise<number> {
  const page = crypto.getRandomValues(new Uint8Array(PAGE_BYTES));
  const times: number[] = [];
  const started = performance.now();
  while (times.length < MAX_SYNCS && performance.now() - started < BUDGET_MS) {
    const before = performance.now();
    await file.write(page, 0, PAGE_BYTES, times.length * PAGE_BYTES);
    await file.datasync();
    times.push(performance.now() - before);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

async function timeWrites(file: FileHandle, maxBytes: number): Promise<number> {
  const chunk = new Uint8Array(Math.min(CHUNK_BYTES, maxBytes));
  // A disk or file system that compresses would take zeros for nothing.
  for (let at = 0; at < chunk.length; at += 65_536) crypto.getRandomValues(chunk.subarray(at, at + 65_536));
  const started = performance.now();
  let written = 0;
  while (written + chunk.length <= maxBytes && performance.now() - started < BUDGET_MS) {
    await file.write(chunk, 0, chunk.length, written);
    written += chunk.length;
  }
  await file.sync();
  return written / Math.max((performance.now() - started) / 1000, 1e-6);
}
