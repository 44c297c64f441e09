import type { SideDatabase } from "../db/side/side-database.ts";
import { openSideFile, type SideFile } from "../db/side/side-file.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log/logger.ts";
import { addCounts, sweepCounts } from "./counts.ts";
import {
  addBackup,
  type BackupLog,
  deleteBackupsBefore,
  newestBackups,
  type PastBackup,
} from "./events/backups.ts";
import { addMark, type Beginning, deleteMarksBefore, type Mark, markStart } from "./events/marks.ts";
import {
  addRequests,
  deleteOldestRequests,
  deleteRequestsBefore,
  requestsBetween,
} from "./events/requests.ts";
import {
  addSamples,
  deleteOldestChunk,
  deleteRowsBefore,
  type FigureStep,
  KEPT_SECS,
  newestSample,
  oldestRow,
} from "./figure-rows.ts";
import {
  addLines,
  deleteOldestBlock,
  joinBlocks,
  type LogPart,
  type LogSearch,
  type NumberedLine,
  oldestLine,
  searchBlock,
} from "./log-blocks.ts";
import { ensureNames } from "./names.ts";
import { readFigures } from "./read-figures.ts";
import { readLanes } from "./read-lanes.ts";
import type { HistoryBatch, HistoryRpc, LogPage } from "./rpc.ts";
import { HISTORY_SCHEMA } from "./schema.ts";

/** The recorded history of a node, on disk. The maintenance thread has it. */
export interface History {
  readonly rpc: Omit<HistoryRpc, "nodeFigures" | "nodes">;
  stats(): HistoryStats;
  /** Empty while the file cannot be read. What is added while it cannot be written waits. */
  readonly backups: BackupLog;
  /** Marks the stop and closes the file. */
  stop(): void;
}

/** Extent of the history. Times are in Unix seconds; null for nothing. */
export interface HistoryStats {
  readonly bytes: number | null;
  readonly maxBytes: number;
  readonly figuresFrom: number | null;
  readonly logFrom: number | null;
  /** The newest sample. */
  readonly recordedAt: number | null;
  /** Why the file cannot be written or read; null while it can. */
  readonly fault: string | null;
}

export interface HistoryDeps {
  /** The data directory. */
  readonly dir: string;
  readonly settings: HistorySettings;
  readonly beginning: Omit<Beginning, "at">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly freeBytes?: (dir: string) => number;
}

const SEARCH_MS = 1_500;
const MAX_REQUESTS = 500;
const HOUR_SECS = 3600;
/** Maximum number of marks that wait while the file cannot be written. */
const MAX_WAITING = 100;

export function openHistory({ dir, settings, beginning, clock, log, freeBytes }: HistoryDeps): History {
  const file = openSideFile({
    dir,
    schema: HISTORY_SCHEMA,
    mode: "writer",
    clock,
    log,
    ...(freeBytes && { freeBytes }),
  });
  const startedAt = nowSecs(clock);
  let isStarted = false;
  let sweptHour = 0;
  let waiting: Mark[] = [];
  let waitingBackups: PastBackup[] = [];
  /** Why the last write failed. */
  let fault: string | null = null;

  /** Writes together with the waiting marks, the start first. */
  function write(work: (db: SideDatabase) => void): void {
    const written = file.write((db) => {
      if (!isStarted) markStart(db, { ...beginning, at: startedAt }, newestSample(db));
      for (const mark of waiting) addMark(db, mark);
      for (const backup of waitingBackups) addBackup(db, backup);
      work(db);
    });
    fault = written.ok ? null : written.error;
    if (!written.ok) return;
    isStarted = true;
    waiting = [];
    waitingBackups = [];
  }

  function record(batch: HistoryBatch): void {
    const now = nowSecs(clock);
    waiting = [...waiting, ...batch.marks].slice(-MAX_WAITING);
    write((db) => {
      store(db, batch);
      const hour = Math.floor(now / HOUR_SECS);
      if (hour !== sweptHour) {
        joinBlocks(db, clock.nowMs());
        sweepHistory(db, settings, now);
      }
      sweptHour = hour;
      trimHistory(db, settings.max_bytes);
    });
  }

  write(() => {});
  return {
    rpc: {
      record,
      figures: (query) => file.read((db) => readFigures(db, query, nowSecs(clock))),
      lanes: (query) => file.read((db) => readLanes(db, query, nowSecs(clock))),
      requests: ({ from, to }) =>
        file.read((db) => requestsBetween(db, from * 1000, to * 1000, MAX_REQUESTS)),
      log: (search) => searchLog(file, search),
    },
    stats() {
      const kept = file.read((db) => {
        const logFrom = oldestLine(db);
        return {
          bytes: db.usedBytes(),
          figuresFrom: oldestRow(db, 3600) ?? oldestRow(db, 60) ?? oldestRow(db, 5) ?? null,
          logFrom: logFrom === undefined ? null : Math.floor(logFrom / 1000),
          recordedAt: newestSample(db) ?? null,
        };
      });
      const none = { bytes: null, figuresFrom: null, logFrom: null, recordedAt: null };
      return {
        ...(kept.ok ? kept.value : none),
        maxBytes: settings.max_bytes,
        fault: fault ?? (kept.ok ? null : kept.error),
      };
    },
    backups: {
      add(backup) {
        waitingBackups = [...waitingBackups, backup].slice(-MAX_WAITING);
        waiting = [...waiting, markOf(backup)].slice(-MAX_WAITING);
        write(() => {});
      },
      list(max) {
        const stored = file.read((db) => newestBackups(db, max));
        return [...waitingBackups.toReversed(), ...(stored.ok ? stored.value : [])].slice(0, max);
      },
    },
    stop() {
      write((db) => addMark(db, { at: nowSecs(clock), kind: "stop", detail: "" }));
      file[Symbol.dispose]();
    },
  };
}

const markOf = ({ at, kind, fault }: PastBackup): Mark => ({
  at,
  kind: fault === null ? "backup" : "backup_failed",
  detail: fault ?? kind,
});

function store(db: SideDatabase, { samples, counts, lines, requests }: HistoryBatch): void {
  const ids = ensureNames(db, [...samples.names, ...counts.flatMap((one) => Object.keys(one.counts))]);
  const columns = new Map<number, Float32Array>();
  for (const [at, name] of samples.names.entries()) {
    const [id, column] = [ids.get(name), samples.columns[at]];
    if (id !== undefined && column) columns.set(id * 4, column);
  }
  addSamples(db, { t: samples.t, columns });
  addCounts(db, counts, ids);
  if (lines.length > 0) addLines(db, lines);
  if (requests.length > 0) addRequests(db, requests);
}

/** Searches block by block, so that the thread can serve other work in between. */
async function searchLog(file: SideFile, search: LogSearch): Promise<Result<LogPage, string>> {
  const endMs = performance.now() + SEARCH_MS;
  const lines: NumberedLine[] = [];
  let before: number | undefined = search.before;
  while (before !== undefined && lines.length < search.limit) {
    if (performance.now() > endMs) return ok({ lines, before, isPartial: true });
    const query: LogSearch = { ...search, before, limit: search.limit - lines.length };
    const part: Result<LogPart, string> = file.read((db) => searchBlock(db, query));
    if (!part.ok) return err(part.error);
    lines.push(...part.value.lines);
    before = part.value.before;
    await Bun.sleep(0);
  }
  return ok({ lines, before: before ?? null, isPartial: false });
}

interface HistorySettings {
  readonly max_bytes: number;
  /** How long lines of the log and requests are kept, in days. */
  readonly log_days: number;
}

const DAY = 86_400;
const REQUEST_DAYS = 7;
/** Maximum number of deletions per call, so that it ends soon; the next one continues. */
const MAX_DELETIONS = 500;
const SHRUNK_PAGES = 2_000;

/** Deletes what is past its retention. */
function sweepHistory(db: SideDatabase, { log_days: logDays }: HistorySettings, now: number): void {
  for (const step of [5, 60, 3600] as const satisfies readonly FigureStep[])
    deleteRowsBefore(db, step, now - KEPT_SECS[step]);
  sweepCounts(db, now);
  const oldest = (now - logDays * DAY) * 1000;
  for (let n = 0; n < MAX_DELETIONS && (oldestLine(db) ?? oldest) < oldest; n++) deleteOldestBlock(db);
  deleteRequestsBefore(db, (now - REQUEST_DAYS * DAY) * 1000);
  deleteMarksBefore(db, now - KEPT_SECS[3600]);
  deleteBackupsBefore(db, now - KEPT_SECS[3600]);
  db.shrink(SHRUNK_PAGES);
}

/**
 * Deletes the oldest data until the file is within its size limit: first the log, then samples, requests, minutes. Hours and
 * marks stay.
 */
function trimHistory(db: SideDatabase, maxBytes: number): void {
  const steps = [
    () => deleteOldestBlock(db),
    () => deleteOldestChunk(db, 5),
    () => deleteOldestRequests(db),
    () => deleteOldestChunk(db, 60),
  ];
  for (let n = 0; n < MAX_DELETIONS && db.usedBytes() > maxBytes; n++)
    if (!steps.some((deleteOldest) => deleteOldest())) return;
}
