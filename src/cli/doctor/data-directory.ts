import { accessSync, constants, mkdirSync, rmdirSync, statSync } from "node:fs";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { reasonOf } from "../../lib/failure.ts";
import type { Result } from "../../lib/result.ts";
import { grouped } from "../../runtime/progress-line.ts";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";
import type { Place } from "./place.ts";

/**
 * A submit, a signed request and a commit of the index each wait for a sync. A sync took 4.6 ms on the busy machine of bench/README.md,
 * where the ingest thread merged 20 messages between two.
 */
const SLOW_SYNC_MS = 10;
/** A backfill of 15,000 messages per second writes 968 bytes for each (bench/README.md). */
const SLOW_BYTES_PER_SECOND = 15_000_000;
/** Even a node that has filled its index grows, makes backups and needs room to migrate. */
const FEW_BYTES = 1_000_000_000;
/** How much of the free space the measurement may use. */
const PROBE_SHARE = 0.1;
const MIN_PROBE_BYTES = 65_536;

const OWNER_ADVICE =
  "Run this as the user of the node (sudo -u svc); else give it that directory (chown), or name another one with --data-dir";

/**
 * Checks the location of the data directory before anything else uses it: a thread that waits for a dead file system cannot be
 * interrupted.
 *
 * @param asked the promise of `askPlace`.
 * @returns a finding if the directory cannot be read or does not respond.
 */
export async function lookAt(
  dataDir: string,
  asked: Promise<Place | undefined>,
): Promise<Result<Place, Finding>> {
  const check = "data directory";
  try {
    const place = await asked;
    if (place) return { ok: true, value: place };
    const advice = "See the mount and its server (findmnt -T), and put data.dir on a local disk";
    return { ok: false, error: fail(check, `${dataDir} is on a file system that does not respond`, advice) };
  } catch (cause) {
    return { ok: false, error: fail(check, `${dataDir} cannot be read: ${reasonOf(cause)}`, OWNER_ADVICE) };
  }
}

/** Checks whether the data directory can be used, is on a disk suitable for a database, and how fast that is. */
export const dataDirectoryCheck = (looked: Result<Place, Finding>): Check => ({
  name: "data directory",
  run: async () => {
    if (!looked.ok) return [looked.error];
    const place = looked.value;
    return [...writable(place), ...fileSystem(place), ...space(place), ...(await speed(place))];
  },
});

function writable({ dir, exists, standsIn }: Place): Finding[] {
  const check = "data directory";
  try {
    const found = statSync(standsIn);
    if (!found.isDirectory())
      return [fail(check, `${standsIn} is not a directory`, "Set data.dir to a directory, or move the file")];
    accessSync(standsIn, constants.W_OK | constants.X_OK);
    if (!exists) return [ok(check, `${dir} does not exist yet; the node creates it`)];
    if (found.uid === process.geteuid?.()) return [ok(check, `${dir} can be written`)];
    return [ok(check, `${dir} can be written, and belongs to the user ${found.uid}`)];
  } catch (cause) {
    return [fail(check, `${standsIn} cannot be written: ${reasonOf(cause)}`, OWNER_ADVICE)];
  }
}

function fileSystem({ standsIn, fileSystem }: Place): Finding[] {
  const check = "file system";
  switch (fileSystem?.trouble) {
    case undefined:
      return [ok(check, `${standsIn} is on a disk of this machine`)];
    case "remote":
      return [
        fail(
          check,
          `${standsIn} is on ${fileSystem.name}, where the locks of SQLite are not reliable`,
          "Put data.dir on a local disk",
        ),
      ];
    case "memory":
      return [
        warn(
          check,
          `${standsIn} is in memory (${fileSystem.name}) and lost when the machine stops`,
          "Put data.dir on a disk",
        ),
      ];
    case "container":
      return [
        warn(
          check,
          `${standsIn} is in the layer of a container (${fileSystem.name}) and is deleted with it`,
          "Mount a volume at data.dir",
        ),
      ];
  }
}

function space({ standsIn, freeBytes }: Place): Finding[] {
  const check = "disk space";
  if (freeBytes === undefined) return [];
  const text = `${grouped(freeBytes / 1e6)} MB free for ${standsIn}`;
  if (freeBytes >= FEW_BYTES) return [ok(check, text)];
  return [
    warn(check, text, "Free space, or put data.dir on a larger disk: at a full disk the node refuses writes"),
  ];
}

async function speed({ dir, exists, freeBytes = Number.POSITIVE_INFINITY }: Place): Promise<Finding[]> {
  const check = "disk speed";
  const maxBytes = Math.floor(freeBytes * PROBE_SHARE);
  if (maxBytes < MIN_PROBE_BYTES)
    return [fail(check, "cannot be measured: the disk is full", "Free space for the data directory")];
  const created = exists ? [] : createDirectories(dir);
  try {
    return assess(await measureDisk(dir, maxBytes));
  } catch (cause) {
    return [
      fail(check, `cannot be measured: ${reasonOf(cause)}`, "Fix what prevents writes to the data directory"),
    ];
  } finally {
    // Leaves nothing of the check behind. A directory that is in use meanwhile is not empty, so it stays.
    for (const made of created.toReversed()) {
      try {
        rmdirSync(made);
      } catch {
        break;
      }
    }
  }
}

function assess({ syncMs, bytesPerSecond }: DiskSpeed): Finding[] {
  const check = "disk speed";
  const text = `sync ${syncMs.toFixed(1)} ms, writes ${grouped(bytesPerSecond / 1e6)} MB/s`;
  if (syncMs > SLOW_SYNC_MS) {
    const advice = "Each submit and signed request waits for a sync. Use an SSD, preferably a local one";
    return [warn(check, text, advice)];
  }
  if (bytesPerSecond < SLOW_BYTES_PER_SECOND) {
    const advice = "Filling the index will take longer than estimated. Use an SSD, preferably a local one";
    return [warn(check, text, advice)];
  }
  return [ok(check, text)];
}

/** Creates the missing directories of a path and returns them, outermost first. */
function createDirectories(dir: string): string[] {
  const missing: string[] = [];
  for (let path = dir; statSync(path, { throwIfNoEntry: false }) === undefined; path = dirname(path))
    missing.unshift(path);
  const created: string[] = [];
  try {
    for (const path of missing) {
      mkdirSync(path, { mode: 0o700 });
      created.push(path);
    }
  } catch {
    // The measurement will report it.
  }
  return created;
}

/** How fast the disk of a directory stores data. */
interface DiskSpeed {
  /** Median time to write a page and sync it, in ms. */
  readonly syncMs: number;
  /** For a file that is written sequentially and then synced. */
  readonly bytesPerSecond: number;
}

const PAGE_BYTES = 4096;
const MAX_SYNCS = 25;
const CHUNK_BYTES = 1024 * 1024;
const MAX_BYTES = 32 * CHUNK_BYTES;
/** For each of the two measurements. A single write or sync may take longer. */
const BUDGET_MS = 1000;

/**
 * Measures with an unlinked file, so that nothing is left behind in any case.
 *
 * @param maxBytes the maximum that it may write.
 * @throws the system's error if a file cannot be created, written or synced.
 */
async function measureDisk(dir: string, maxBytes: number): Promise<DiskSpeed> {
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
  // A compressing disk or file system would store zeros almost for free.
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
