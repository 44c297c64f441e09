import type { Clock } from "../process/clock.ts";

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

/** Where progress is shown. */
export interface ProgressOutput {
  readonly isTerminal: boolean;
  /** The width of the terminal at this moment, in columns. */
  columns(): number;
  write(text: string): void;
}

export interface ProgressReporter {
  update(progress: ImportProgress): void;
  /** Shows the last state and leaves the line. */
  finish(): void;
}

const REDRAW_INTERVAL_MS = 100;
const LOG_INTERVAL_MS = 5000;
const MIN_BAR_COLUMNS = 10;
const MAX_BAR_COLUMNS = 40;
const ERASE_LINE = "\r\u001B[K";

/**
 * Shows progress: a line that is redrawn at most ten times a second on a terminal; elsewhere a call of `log` every
 * five seconds and nothing on the output.
 */
export function createProgressReporter(options: {
  output: ProgressOutput;
  clock: Clock;
  log: (progress: ImportProgress) => void;
}): ProgressReporter {
  const { output, clock, log } = options;
  const intervalMs = output.isTerminal ? REDRAW_INTERVAL_MS : LOG_INTERVAL_MS;
  let latest: ImportProgress | undefined;
  let shownAtMs = output.isTerminal ? Number.NEGATIVE_INFINITY : clock.nowMs();
  const show = (progress: ImportProgress) => {
    if (output.isTerminal) output.write(ERASE_LINE + formatProgress(progress, output.columns()));
    else log(progress);
  };
  return {
    update: (progress) => {
      latest = progress;
      const nowMs = clock.nowMs();
      if (nowMs - shownAtMs < intervalMs) return;
      shownAtMs = nowMs;
      show(progress);
    },
    finish: () => {
      if (!latest) return;
      show(latest);
      if (output.isTerminal) output.write("\n");
    },
  };
}

/**
 * One line of at most `columns` columns: a bar, percent, records per second, time left. Parts go, from the least
 * needed on, until the rest fits. ASCII alone, so every character is one column wide.
 */
export function formatProgress(progress: ImportProgress, columns: number): string {
  const share = doneShare(progress);
  const percent = `${Math.floor(share * 100)
    .toString()
    .padStart(3)}%`;
  const perSec = progress.elapsedMs > 0 ? (progress.records / progress.elapsedMs) * 1000 : 0;
  const rate = `${grouped(perSec)}/s`;
  const records = `${grouped(progress.records)} records`;
  const left = `${formatDuration(timeLeftMs(progress))} left`;
  // A line as wide as the terminal would wrap on some, so the last column stays free.
  const room = columns - 1;
  for (const parts of [[percent, records, rate, left], [percent, rate, left], [percent, left], [percent]]) {
    const text = parts.join("  ");
    const barColumns = Math.min(MAX_BAR_COLUMNS, room - text.length - "[]  ".length);
    if (barColumns >= MIN_BAR_COLUMNS) return `[${bar(share, barColumns)}]  ${text}`;
  }
  return percent.trim().slice(0, Math.max(0, room));
}

/** Milliseconds as the two largest units that matter; "--" when unknown. */
export function formatDuration(ms: number | undefined): string {
  if (ms === undefined) return "--";
  const secs = Math.round(ms / 1000);
  const [hours, minutes] = [Math.floor(secs / 3600), Math.floor((secs % 3600) / 60)];
  if (hours > 0) return `${hours}h ${minutes}m`;
  return minutes > 0 ? `${minutes}m ${secs % 60}s` : `${secs}s`;
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

function bar(share: number, columns: number): string {
  const filled = Math.floor(share * columns);
  return "#".repeat(filled) + "-".repeat(columns - filled);
}

function grouped(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
