import { statfs } from "node:fs/promises";
import { Gauge } from "prom-client";
import type { DatabaseName } from "../db/sqlite/storage-error.ts";
import type { Logger } from "../runtime/logger.ts";
import type { Metrics } from "../runtime/metrics.ts";
import type { Replacement } from "../runtime/replacement.ts";
import { type SetTimer, setTimer } from "../runtime/set-timer.ts";
import type { DamageReports } from "./damage-reports.ts";

/** The space of the file system of the data directory. */
export interface DiskSpace {
  /** Bytes that this process may still write. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** Returns why the last write of a database failed; null after a success; undefined when the writer does not respond. */
export type WriteFaultSource = () => Promise<string | null | undefined>;

/** Monitors the data directory and the databases. */
export interface StorageWatch {
  /** A description of the damage of a database; undefined while none is known. */
  damageReason(): string | undefined;
  /** A description of why writes fail; undefined while they succeed. */
  writeFaultReason(): string | undefined;
  /** Whether each watched database is damaged, or its last write failed. */
  hasFault(): ReadonlyMap<string, boolean>;
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
  readonly damage: Pick<DamageReports, "of">;
  readonly log: Logger;
  /** Called once, with what was deleted or replaced. */
  readonly onReplaced: (what: Replacement) => void;
}

const POLL_INTERVAL_MS = 1000;

/** Creates a watch. The caller schedules its polls. */
export function createStorageWatch(options: StorageWatchOptions): StorageWatch {
  const { dataDir, replaced, writeFaults, damage, log, onReplaced } = options;
  // In this order, independent of which database failed first.
  const databases = Object.keys(writeFaults) as DatabaseName[];
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
    damageReason() {
      const damaged = databases.find((database) => damage.of(database) !== undefined);
      return damaged && `the ${damaged} is damaged: ${damage.of(damaged)}`;
    },
    writeFaultReason() {
      const failing = databases.find((database) => faults.has(database));
      return failing && `the ${failing} cannot be written: ${faults.get(failing)}`;
    },
    hasFault: () =>
      new Map(databases.map((name) => [name, faults.has(name) || damage.of(name) !== undefined])),
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

/** Registers the free bytes of the data directory's file system, and which databases have a fault. */
export function registerDiskMetrics({ registry, prefix }: Metrics, watch: StorageWatch): void {
  new Gauge({
    name: `${prefix}disk_write_fault`,
    help: "1 for a database that is damaged, or whose last write has failed, else 0.",
    labelNames: ["database"],
    registers: [registry],
    collect() {
      for (const [database, hasFault] of watch.hasFault()) this.set({ database }, hasFault ? 1 : 0);
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
