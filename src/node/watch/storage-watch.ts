import { statfsSync } from "node:fs";
import type { NodeSignals } from "../../cluster/node-signals.ts";
import type { Damage, DatabaseFile, DatabaseName } from "../../db/sqlite/storage-error.ts";
import { type SetTimer, setBeat } from "../../runtime/clock.ts";
import { figureOf, gauge, gaugeBy } from "../../runtime/figures/figures.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import type { Replacement } from "../../runtime/replacement.ts";

/** The space on the file system of the data directory. */
export interface DiskSpace {
  /** Bytes that this process may still write. */
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** Returns why the last write of a database failed; null after a success; undefined if the writer does not respond. */
export type WriteFaultSource = () => Promise<string | null | undefined>;

/** Monitors the data directory and the databases. */
export type StorageWatch = ReturnType<typeof createStorageWatch>;

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
export function createStorageWatch(options: StorageWatchOptions) {
  const { dataDir, replaced, writeFaults, damage, log, onReplaced } = options;
  // In this fixed order, whichever database failed first.
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
    /** Returns a description of a database's damage; undefined if none is known. */
    damageReason(): string | undefined {
      const damaged = databases.find((database) => damage.of(database) !== undefined);
      return damaged && `the ${damaged} is damaged: ${damage.of(damaged)}`;
    },
    /** Returns why writes fail; undefined while they succeed. */
    writeFaultReason(): string | undefined {
      const failing = databases.find((database) => faults.has(database));
      return failing && `the ${failing} cannot be written: ${faults.get(failing)}`;
    },
    /** Returns, for each watched database, whether it is damaged or its last write failed. */
    hasFault: (): ReadonlyMap<string, boolean> =>
      new Map(databases.map((name) => [name, faults.has(name) || damage.of(name) !== undefined])),
    /** Undefined before the first poll, and if the file system does not report it. */
    diskSpace: (): DiskSpace | undefined => space,
    /** Checks once. */
    async poll(): Promise<void> {
      const what = await replaced();
      if (what !== undefined && !isReplaced) {
        isReplaced = true;
        onReplaced(what);
      }
      space = spaceOf(dataDir);
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
  after: SetTimer = setBeat,
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

const figure = figureOf<StorageWatch>();

export const storageFigures = [
  figure({
    read: (watch) => watch.diskSpace()?.freeBytes ?? null,
    metric: gauge(
      "disk_free_bytes",
      "Bytes that the node can still write to the file system of its data directory.",
    ),
    status: "disk.free_bytes",
    history: { series: "disk_free_bytes", minute: "mean", isPrivate: true },
  }),
  figure({ read: (watch) => watch.diskSpace()?.totalBytes ?? null, status: "disk.total_bytes" }),
  figure({
    read: (watch) => watch.damageReason() ?? watch.writeFaultReason() ?? null,
    status: "disk.write_fault",
  }),
  figure({
    read: (watch) => Object.fromEntries([...watch.hasFault()].map(([name, is]) => [name, Number(is)])),
    metric: gaugeBy(
      "database",
      "disk_write_fault",
      "1 for a database that is damaged, or whose last write has failed, else 0.",
    ),
  }),
];

function spaceOf(path: string): DiskSpace | undefined {
  try {
    const { bavail, blocks, bsize } = statfsSync(path);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch {
    // The directory was deleted, which `replaced` reports, or the file system does not report its space.
    return undefined;
  }
}

/** The damage that threads have found in the node's databases. Only a restart with another file clears it. */
export type DamageReports = ReturnType<typeof createDamageReports>;

/**
 * @param databases those of the node. Damage of other files, such as a copy for a backup, does not count.
 * @param signals make the writer of a damaged database refuse writes.
 */
export function createDamageReports(
  databases: readonly DatabaseFile[],
  log: Logger,
  signals?: Pick<NodeSignals, "setDamaged">,
) {
  const found = new Map<string, string>();
  return {
    note({ database, file, reason, remedy }: Damage): void {
      if (found.has(database) || !databases.some((own) => own.file === file)) return;
      found.set(database, reason);
      signals?.setDamaged(database);
      log.error({ database, reason, remedy }, "Found damage in the database: nothing more is written to it");
    },
    /** Returns a description of the first damage found in a database; undefined if none was found so far. */
    of: (database: Damage["database"]): string | undefined => found.get(database),
  };
}
