import type { Clock } from "./clock.ts";

/** Where progress is shown. */
export interface ProgressOutput {
  readonly isTerminal: boolean;
  /** The width of the terminal at this moment, in columns. */
  columns(): number;
  write(text: string): void;
}

export interface ProgressReporter<Progress> {
  update(progress: Progress): void;
  /** Shows the last state and leaves the line. */
  finish(): void;
}

const REDRAW_INTERVAL_MS = 100;
const MIN_BAR_COLUMNS = 10;
const MAX_BAR_COLUMNS = 40;
const DEFAULT_COLUMNS = 80;
const ERASE_LINE = "\r\u001B[K";

/** Progress on standard error, which is a terminal for people unless somebody redirected it. */
export function progressOnStderr(): ProgressOutput {
  return {
    isTerminal: process.stderr.isTTY === true,
    columns: () => process.stderr.columns ?? DEFAULT_COLUMNS,
    write: (text) => process.stderr.write(text),
  };
}

/**
 * Shows progress: a line that is redrawn at most ten times a second on a terminal; elsewhere a call of `log` every
 * `logIntervalMs` and nothing on the output. The cursor waits at the start of the line, so that a log line that comes
 * between (they begin with an erasure on a terminal) takes its place.
 */
export function createProgressReporter<Progress>(options: {
  output: ProgressOutput;
  clock: Clock;
  logIntervalMs: number;
  log: (progress: Progress) => void;
  /** One line of less than `columns` columns. */
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
 * One line of less than `columns` columns: a bar, then the first of `texts` that leaves room for it, the most telling
 * first and the shortest last. ASCII alone, so every character is one column wide.
 *
 * @param share what is done, 0 to 1.
 */
export function progressLine(share: number, texts: readonly string[], columns: number): string {
  // A line as wide as the terminal would wrap on some, so the last column stays free.
  const room = columns - 1;
  for (const text of texts) {
    const barColumns = Math.min(MAX_BAR_COLUMNS, room - text.length - "[]  ".length);
    if (barColumns >= MIN_BAR_COLUMNS) return `[${bar(share, barColumns)}]  ${text}`;
  }
  return (texts.at(-1) ?? "").trim().slice(0, Math.max(0, room));
}

/** A share of the whole in percent, three columns wide. */
export function percentOf(share: number): string {
  return `${Math.floor(share * 100)
    .toString()
    .padStart(3)}%`;
}

/** Milliseconds as the two largest units that matter; "--" when unknown. */
export function formatDuration(ms: number | undefined): string {
  if (ms === undefined) return "--";
  const secs = Math.round(ms / 1000);
  const [hours, minutes] = [Math.floor(secs / 3600), Math.floor((secs % 3600) / 60)];
  if (hours > 0) return `${hours}h ${minutes}m`;
  return minutes > 0 ? `${minutes}m ${secs % 60}s` : `${secs}s`;
}

/** A whole number with its thousands apart. */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

function bar(share: number, columns: number): string {
  const filled = Math.floor(share * columns);
  return "#".repeat(filled) + "-".repeat(columns - filled);
}
