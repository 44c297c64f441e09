import { statfs } from "node:fs/promises";
import { Gauge } from "prom-client";
import type { DatabaseName } from "../db/sqlite/storage-error.ts";
import type { Logger } from "../runtime/logger.ts";
import type { Metrics } from "../runtime/metrics.ts";
import { type SetTimer, setTimer } from "../runtime/set-timer.ts";

/** Bytes of the file system of the data directory. */
export interface DiskSpace {
  /** Those that this process may still write. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** Why the last write of a database failed; null once one has succeeded. Undefined when nobody answers. */
export type WriteFaultSource = () => Promise<string | null | undefined>;

/** Keeps an eye on what the databases stand on. */
export interface StorageWatch {
  /** Why writes fail, for people; undefined while they succeed. */
  writeFaultReason(): string | undefined;
  /** Undefined before the first look, and where the file system does not tell. */
  diskSpace(): DiskSpace | undefined;
  /** Looks once. */
  look(): Promise<void>;
}

export interface StorageWatchOptions {
  readonly dataDir: string;
  /** See `watchForReplacement`. */
  readonly replaced: () => Promise<string | undefined>;
  readonly writeFaults: Readonly<Partial<Record<DatabaseName, WriteFaultSource>>>;
  readonly log: Logger;
  /** Told once, with what was deleted or replaced. */
  readonly onReplaced: (what: string) => void;
}

const LOOK_INTERVAL_MS = 1000;

/** Makes a watch that looks when it is told to. */
export function createStorageWatch(options: StorageWatchOptions): StorageWatch {
  const { dataDir, replaced, writeFaults, log, onReplaced } = options;
  const faults = new Map<string, string>();
  let space: DiskSpace | undefined;
  let isReplaced = false;

  const lookAtWrites = async (database: string, source: WriteFaultSource) => {
    const fault = await source();
    // Who is too busy to answer has neither failed nor succeeded.
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
      // In the order of the sources, whichever of them was heard of first.
      const first = Object.keys(writeFaults).find((database) => faults.has(database));
      return first && `the ${first} cannot be written: ${faults.get(first)}`;
    },
    diskSpace: () => space,
    async look() {
      const what = await replaced();
      if (what !== undefined && !isReplaced) {
        isReplaced = true;
        onReplaced(what);
      }
      space = await spaceOf(dataDir);
      await Promise.all(
        Object.entries(writeFaults).map(([database, source]) => lookAtWrites(database, source)),
      );
    },
  };
}

/**
 * Looks each second until the end is called for; a look that takes longer is not overtaken.
 *
 * @returns ends it.
 */
export function scheduleStorageWatch(
  watch: Pick<StorageWatch, "look">,
  after: SetTimer = setTimer,
): () => void {
  let isEnded = false;
  let cancel = () => {};
  const wait = () => {
    if (!isEnded) cancel = after(LOOK_INTERVAL_MS, () => void watch.look().finally(wait));
  };
  void watch.look().finally(wait);
  return () => {
    isEnded = true;
    cancel();
  };
}

/** Registers the free bytes of the data directory's file system. */
export function registerDiskMetrics({ registry, prefix }: Metrics, watch: StorageWatch): void {
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
    // The directory has gone, which `replaced` tells, or the file system does not say.
    return undefined;
  }
}
