import { statfs } from "node:fs/promises";
import { Gauge } from "prom-client";
import type { DatabaseName } from "../db/sqlite/storage-error.ts";
import type { Logger } from "../runtime/logger.ts";
import type { Metrics } from "../runtime/metrics.ts";
import type { Replacement } from "../runtime/replacement.ts";
import { type SetTimer, setTimer } from "../runtime/set-timer.ts";

/** The space of the file system of the data directory. */
export interface DiskSpace {
  /** Bytes that this process may still write. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** Returns why the last write of a database failed; null after a success; undefined when the writer does not respond. */
export type WriteFaultSource = () => Promise<string | null | undefined>;

/** Monitors the data directory and the writes of the databases. */
export interface StorageWatch {
  /** A description of why writes fail; undefined while they succeed. */
  writeFaultReason(): string | undefined;
  /** Whether the last write of each watched database failed. */
  hasWriteFault(): ReadonlyMap<string, boolean>;
  /** Undefined before the first poll, and where the file system does not report it. */
  diskSpace(): DiskSpace | undefined;
  /** Checks once. */
  poll(): Promise<void>;
}

export interface StorageWatchOptions {
  readonly dataDir: string;
  /** See `watchForReplacement`. */
  readonly replaced: () => Promise<Replacement | undefined>;
  readonly writeFaults: Readonly<Partial<Record<DatabaseName, WriteFaultSource>>>;
  readonly log: Logger;
  /** Called once, with what was deleted or replaced. */
  readonly onReplaced: (what: Replacement) => void;
}

const POLL_INTERVAL_MS = 1000;

/** Creates a watch. The caller schedules its polls. */
export function createStorageWatch(options: StorageWatchOptions): StorageWatch {
  const { dataDir, replaced, writeFaults, log, onReplaced } = options;
  const faults = new Map<string, string>();
  let space: DiskSpace | undefined;
  let isReplaced = false;

  const checkWrites = async (database: string, source: WriteFaultSource) => {
    const fault = await source();
    // A busy writer has neither failed nor succeeded.
    if (fault === undefined) return;
    if (fault === null) {
      if (faults.delete(database)) log.info({ database }, "Could write the database again");
    } else {
      if (!faults.has(database)) log.error({ database, reason: fault }, "Failed to write the database");
      faults.set(database, fault);
    }
  };

  return {
    writeFaultReason() {
      // In the order of `writeFaults`, independent of which database failed first.
      const first = Object.keys(writeFaults).find((database) => faults.has(database));
      return first && `the ${first} cannot be written: ${faults.get(first)}`;
    },
    hasWriteFault: () => new Map(Object.keys(writeFaults).map((name) => [name, faults.has(name)])),
    diskSpace: () => space,
    async poll() {
      const what = await replaced();
      if (what !== undefined && !isReplaced) {
        isReplaced = true;
        onReplaced(what);
      }
      space = await spaceOf(dataDir);
      await Promise.all(
        Object.entries(writeFaults).map(([database, source]) => checkWrites(database, source)),
      );
    },
  };
}

/**
 * Polls every second, counted from the end of the previous poll.
 *
 * @returns stops polling.
 */
export function scheduleStorageWatch(
  watch: Pick<StorageWatch, "poll">,
  after: SetTimer = setTimer,
): () => void {
  let isStopped = false;
  let cancel = () => {};
  const wait = () => {
    if (!isStopped) cancel = after(POLL_INTERVAL_MS, () => void watch.poll().finally(wait));
  };
  void watch.poll().finally(wait);
  return () => {
    isStopped = true;
    cancel();
  };
}

/** Registers the free bytes of the data directory's file system, and which databases can be written. */
export function registerDiskMetrics({ registry, prefix }: Metrics, watch: StorageWatch): void {
  new Gauge({
    name: `${prefix}disk_write_fault`,
    help: "1 while the last write of a database has failed, else 0.",
    labelNames: ["database"],
    registers: [registry],
    collect() {
      for (const [database, hasFault] of watch.hasWriteFault()) this.set({ database }, hasFault ? 1 : 0);
    },
  });
  new Gauge({
    name: `${prefix}disk_free_bytes`,
    help: "Bytes that the node can still write to the file system of its data directory.",
    registers: [registry],
    collect() {
      const space = watch.diskSpace();
      if (space) this.set(space.freeBytes);
    },
  });
}

async function spaceOf(path: string): Promise<DiskSpace | undefined> {
  try {
    const { bavail, blocks, bsize } = await statfs(path);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch {
    // The directory was deleted, which `replaced` reports, or the file system does not report its space.
    return undefined;
  }
}
