import { formatDuration, grouped, percentOf, progressLine } from "../runtime/progress-line.ts";

/** How far an import has come. */
export interface ImportProgress {
  /** Bytes of the file that are done, those of earlier runs included. */
  readonly doneBytes: number;
  readonly totalBytes: number;
  /** Where this run began. */
  readonly startedAtBytes: number;
  /** Records of this run. */
  readonly records: number;
  readonly elapsedMs: number;
}

/** A bar, percent, records per second and time left, as much of it as fits into `columns` columns. */
export function formatProgress(progress: ImportProgress, columns: number): string {
  const share = doneShare(progress);
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

function doneShare({ doneBytes, totalBytes }: ImportProgress): number {
  return totalBytes > 0 ? Math.min(1, doneBytes / totalBytes) : 1;
}

/** By the speed of this run; undefined while nothing of it is done. */
function timeLeftMs(progress: ImportProgress): number | undefined {
  const { doneBytes, totalBytes, startedAtBytes, elapsedMs } = progress;
  const leftBytes = Math.max(0, totalBytes - doneBytes);
  if (leftBytes === 0) return 0;
  const ownBytes = doneBytes - startedAtBytes;
  return ownBytes > 0 ? (elapsedMs / ownBytes) * leftBytes : undefined;
}
