import type { BulkProgress } from "../db/index/bulk/bulk-build.ts";
import { formatDuration, grouped, percentOf, progressLine } from "../runtime/progress-line.ts";

/** The progress of an import. */
export interface ImportProgress {
  /** Imported bytes of the file, including those of earlier runs. */
  readonly doneBytes: number;
  readonly totalBytes: number;
  /** The offset at which this run started. */
  readonly startedAtBytes: number;
  /** Records of this run. */
  readonly records: number;
  readonly elapsedMs: number;
  /** Set while the index is built from the records of the file. */
  readonly stage?: BulkProgress;
}

/** Formats a bar, percent, records per second and time left, as much of it as fits into `columns` columns. */
export function formatProgress(progress: ImportProgress, columns: number): string {
  if (progress.stage) {
    const { stage, done } = progress.stage;
    return progressLine(done, [`building the index: ${stage}  ${percentOf(done)}`, percentOf(done)], columns);
  }
  const share = shareDone(progress);
  const percent = percentOf(share);
  const perSec = progress.elapsedMs > 0 ? (progress.records / progress.elapsedMs) * 1000 : 0;
  const rate = `${grouped(perSec)}/s`;
  const records = `${grouped(progress.records)} records`;
  const left = `${formatDuration(timeLeftMs(progress))} left`;
  const texts = [[percent, records, rate, left], [percent, rate, left], [percent, left], [percent]];
  return progressLine(
    share,
    texts.map((parts) => parts.join("  ")),
    columns,
  );
}

function shareDone({ doneBytes, totalBytes }: ImportProgress): number {
  return totalBytes > 0 ? Math.min(1, doneBytes / totalBytes) : 1;
}

/** Estimates the time left from the speed of this run; undefined before its first record. */
function timeLeftMs(progress: ImportProgress): number | undefined {
  const { doneBytes, totalBytes, startedAtBytes, elapsedMs } = progress;
  const leftBytes = Math.max(0, totalBytes - doneBytes);
  if (leftBytes === 0) return 0;
  const ownBytes = doneBytes - startedAtBytes;
  return ownBytes > 0 ? (elapsedMs / ownBytes) * leftBytes : undefined;
}
