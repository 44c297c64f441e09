import type { Config } from "../../config/schema.ts";
import { indexPath, openIndexReader } from "../../db/index/database.ts";
import { RetryableError, reasonOf } from "../../lib/failure.ts";
import { type Clock, type SetTimer, setTimer } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import { incompleteReason } from "../snapshot/manifest.ts";
import { placeOf } from "../snapshot/places/place-of.ts";
import { type Backup, type BackupKind, backupsIn, UNDELETABLE } from "./backup.ts";

/** The state of scheduled backups, for `/status` and metrics. */
export interface BackupStats {
  /** When the newest backup of the scheduled kind was started, unix seconds; null if there is none. */
  readonly lastAt: number | null;
  /** Compressed size in bytes of this process's last backup; 0 before the first. */
  readonly lastBytes: number;
  readonly lastDurationMs: number;
  /** Why the last attempt failed; null after a success. */
  readonly failure: string | null;
  /** Failed attempts of this process. */
  readonly failures: number;
  /** When the next one is due, unix seconds. */
  readonly nextAt: number;
}

export type BackupSchedule = ReturnType<typeof startBackupSchedule>;

type BackupConfig = Pick<Config, "data" | "protocol" | "upstream" | "state" | "backup">;

export interface BackupScheduleDeps {
  readonly config: BackupConfig;
  readonly clock: Clock;
  readonly log: Logger;
  readonly after?: SetTimer;
  readonly make: (kind: BackupKind, signal: AbortSignal) => Promise<Backup>;
}

const DAY_MS = 86_400_000;
const POLL_INTERVAL_MS = 30_000;
const RETRY_AFTER_MS = 600_000;

/**
 * Makes a backup each day at `backup.at` (none if that is empty), or as soon as it runs after that time if the day's backup is missing. A
 * failed backup is retried after ten minutes.
 */
export function startBackupSchedule(deps: BackupScheduleDeps) {
  const { config, clock, log, make, after = setTimer } = deps;
  const stopping = new AbortController();
  let lastMs: number | undefined;
  /** The scheduled time of the last backup; undefined before the directory was read. */
  let madeForMs: number | undefined;
  let retryAtMs = Number.NEGATIVE_INFINITY;
  let last = { bytes: 0, durationMs: 0 };
  let failure: string | null = null;
  let failures = 0;
  let cancel = () => {};

  let place = "";

  async function poll(): Promise<void> {
    // Read at each check, because the settings may change while the node runs.
    const { at, url, dir } = config.backup;
    if (at === "") return;
    if (place !== (url || dir)) {
      place = url || dir;
      madeForMs = undefined;
      lastMs = undefined;
      retryAtMs = Number.NEGATIVE_INFINITY;
    }
    const nowMs = clock.nowMs();
    const dueMs = lastDueMs(at, nowMs);
    if ((madeForMs !== undefined && madeForMs >= dueMs) || nowMs < retryAtMs) return;
    const startedMs = performance.now();
    try {
      if (madeForMs === undefined) {
        // A backup with a future time was made while the clock was wrong.
        lastMs = (await backupsIn(placeOf(place, config.backup), stopping.signal)).find(
          ({ kind, isManual, atMs }) => kind === scheduledKind(config) && !isManual && atMs <= nowMs,
        )?.atMs;
        madeForMs = lastMs ?? Number.NEGATIVE_INFINITY;
        if (madeForMs >= dueMs) {
          failure = null;
          return;
        }
      }
      const kind = kindNow();
      const { path, manifest, leftOut, deleted, undeletable } = await make(kind, stopping.signal);
      const bytes = (manifest.index?.compressed_bytes ?? 0) + (manifest.state?.compressed_bytes ?? 0);
      last = { bytes, durationMs: Math.round(performance.now() - startedMs) };
      madeForMs = dueMs;
      failure = null;
      if (kind === scheduledKind(config)) lastMs = nowMs;
      log.info({ path, ...last, deleted }, "Created a backup");
      for (const what of leftOut) log.warn(what);
      if (undeletable.length > 0) log.warn({ paths: undeletable }, UNDELETABLE);
    } catch (cause) {
      if (stopping.signal.aborted) return;
      failures += 1;
      failure = reasonOf(cause);
      retryAtMs = nowMs + RETRY_AFTER_MS;
      log.error({ err: cause }, "A backup failed");
    }
  }

  /** An incomplete index is not worth a backup, but the state is. */
  function kindNow(): BackupKind {
    const scheduled = scheduledKind(config);
    if (scheduled === "state") return scheduled;
    using index = openIndexReader(indexPath(config.data.dir));
    const reason = incompleteReason(index);
    if (reason === undefined) return scheduled;
    if (scheduled === "index") throw new RetryableError(`the index is not complete: ${reason}`);
    log.warn({ reason }, "The index is incomplete, so this backup contains only the state");
    return "state";
  }

  let underWay = Promise.resolve();
  const wait = () => {
    if (!stopping.signal.aborted) cancel = after(POLL_INTERVAL_MS, run);
  };
  const run = () => {
    underWay = poll().finally(wait);
  };
  run();

  return {
    stats: (): BackupStats => ({
      lastAt: lastMs === undefined ? null : Math.floor(lastMs / 1000),
      lastBytes: last.bytes,
      lastDurationMs: last.durationMs,
      failure,
      failures,
      nextAt: Math.floor((lastDueMs(config.backup.at, clock.nowMs()) + DAY_MS) / 1000),
    }),
    /** Stops the backup in progress and deletes what it has written. */
    async stop(): Promise<void> {
      stopping.abort(new Error("the node is shutting down"));
      cancel();
      await underWay;
    },
  };
}

function scheduledKind({ state, backup }: BackupConfig): BackupKind {
  // A state in PostgreSQL has separate backups.
  if (state.url !== "") return "index";
  return backup.index ? "whole" : "state";
}

/** Returns the last time of day `at` in UTC that is not after `nowMs`. */
function lastDueMs(at: string, nowMs: number): number {
  const [hours = 0, minutes = 0] = at.split(":").map(Number);
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS + (hours * 60 + minutes) * 60_000;
  return today <= nowMs ? today : today - DAY_MS;
}
