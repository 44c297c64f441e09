import type { SideDatabase } from "../db/side/side-database.ts";
import { sweepCounts } from "./counts.ts";
import { deleteOldestChunk, deleteRowsBefore, type FigureStep, KEPT_SECS } from "./figure-rows.ts";
import { deleteOldestBlock, oldestLine } from "./log-blocks.ts";
import { deleteMarksBefore } from "./marks.ts";
import { deleteOldestRequests, deleteRequestsBefore } from "./requests.ts";

export interface HistorySettings {
  readonly max_bytes: number;
  /** How long lines of the log and requests stay. */
  readonly log_days: number;
}

const DAY = 86_400;
const REQUEST_DAYS = 7;
/** Deletions of one call, so that it ends soon; the next one continues. */
const MAX_DELETIONS = 500;
const SHRUNK_PAGES = 2_000;

/** Deletes what has been kept for its time. */
export function sweepHistory(db: SideDatabase, { log_days: logDays }: HistorySettings, now: number): void {
  for (const step of [5, 60, 3600] as const satisfies readonly FigureStep[])
    deleteRowsBefore(db, step, now - KEPT_SECS[step]);
  sweepCounts(db, now);
  const oldest = (now - logDays * DAY) * 1000;
  for (let n = 0; n < MAX_DELETIONS && (oldestLine(db) ?? oldest) < oldest; n++) deleteOldestBlock(db);
  deleteRequestsBefore(db, (now - REQUEST_DAYS * DAY) * 1000);
  deleteMarksBefore(db, now - KEPT_SECS[3600]);
  db.shrink(SHRUNK_PAGES);
}

/** Deletes the oldest until the file is within its bound: first the log, then samples, requests, minutes. Hours and marks stay. */
export function trimHistory(db: SideDatabase, maxBytes: number): void {
  const steps = [
    () => deleteOldestBlock(db),
    () => deleteOldestChunk(db, 5),
    () => deleteOldestRequests(db),
    () => deleteOldestChunk(db, 60),
  ];
  for (let n = 0; n < MAX_DELETIONS && db.usedBytes() > maxBytes; n++)
    if (!steps.some((deleteOldest) => deleteOldest())) return;
}
