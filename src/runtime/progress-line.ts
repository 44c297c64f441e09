import type { Clock } from "./clock.ts";

/** The output of a progress line. */
export interface ProgressOutput {
  readonly isTerminal: boolean;
  /** The current width of the terminal in columns. */
  columns(): number;
  write(text: string): void;
}

export interface ProgressReporter<Progress> {
  update(progress: Progress): void;
  /** Shows the last state and ends the line. */
  finish(): void;
}

const REDRAW_INTERVAL_MS = 100;
const MIN_BAR_COLUMNS = 10;
const MAX_BAR_COLUMNS = 40;
const DEFAULT_COLUMNS = 80;
const ERASE_LINE = "\r\u001B[K";

/** Standard error, which is a terminal unless it is redirected. */
export function progressOnStderr(): ProgressOutput {
  return {
    isTerminal: process.stderr.isTTY === true,
    columns: () => process.stderr.columns ?? DEFAULT_COLUMNS,
    write: (text) => process.stderr.write(text),
  };
}

/**
 * Reports progress. On a terminal it redraws one line at most ten times a second; elsewhere it calls `log` every `logIntervalMs` and
 * writes nothing. The cursor stays at the start of the line, so that a log line, which starts with an erase sequence on a terminal,
 * replaces it.
 *
 * `cli-progress` has no structured log lines for other outputs, no shorter texts for narrow terminals and no injected clock, and it
 * redraws over log lines; the bar itself is the smallest part of this file.
 */
export function createProgressReporter<Progress>(options: {
  output: ProgressOutput;
  clock: Clock;
  logIntervalMs: number;
  log: (progress: Progress) => void;
  /** Formats one line of fewer than `columns` columns. */
  format: (progress: Progress, columns: number) => string;
}): ProgressReporter<Progress> {
  const { output, clock, log, logIntervalMs, format } = options;
  const intervalMs = output.isTerminal ? REDRAW_INTERVAL_MS : logIntervalMs;
  let latest: Progress | undefined;
  let shownAtMs = output.isTerminal ? Number.NEGATIVE_INFINITY : clock.nowMs();
  const show = (progress: Progress) => {
    if (output.isTerminal) output.write(`${ERASE_LINE}${format(progress, output.columns())}\r`);
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
      if (latest === undefined) return;
      show(latest);
      if (output.isTerminal) output.write("\n");
    },
  };
}

/**
 * Formats one line of fewer than `columns` columns: a bar, then the first of `texts` that fits, from the most detailed to the shortest.
 * ASCII only, so that every character is one column wide.
 *
 * @param share the completed fraction, 0 to 1.
 */
export function progressLine(share: number, texts: readonly string[], columns: number): string {
  // A line as wide as the terminal wraps on some terminals, so the last column stays free.
  const room = columns - 1;
  for (const text of texts) {
    const barColumns = Math.min(MAX_BAR_COLUMNS, room - text.length - "[]  ".length);
    if (barColumns >= MIN_BAR_COLUMNS) return `[${bar(share, barColumns)}]  ${text}`;
  }
  return (texts.at(-1) ?? "").trim().slice(0, Math.max(0, room));
}

/** Formats a fraction in percent, three columns wide. */
export function percentOf(share: number): string {
  return `${Math.floor(share * 100)
    .toString()
    .padStart(3)}%`;
}

/** Formats milliseconds as the two largest units; "--" if unknown. */
export function formatDuration(ms: number | undefined): string {
  if (ms === undefined) return "--";
  const secs = Math.round(ms / 1000);
  const [hours, minutes] = [Math.floor(secs / 3600), Math.floor((secs % 3600) / 60)];
  if (hours > 0) return `${hours}h ${minutes}m`;
  return minutes > 0 ? `${minutes}m ${secs % 60}s` : `${secs}s`;
}

/** Formats a whole number with thousands separators. */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

function bar(share: number, columns: number): string {
  const filled = Math.floor(share * columns);
  return "#".repeat(filled) + "-".repeat(columns - filled);
}
