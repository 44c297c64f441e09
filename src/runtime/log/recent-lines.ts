import { parseJson } from "../../lib/json.ts";
import { printable } from "../../lib/text.ts";

/** Receives a finished log line, after all secrets were removed. */
export type KeepLine = (line: string) => void;

/** A log line of level info or above. It contains nothing that moves a cursor or reorders text. */
export interface RecentLine {
  /** Increases by one with each line of the process. */
  readonly seq: number;
  /** ISO 8601. */
  readonly at: string;
  readonly level: string;
  /** The thread that logged it. */
  readonly thread: string;
  readonly message: string;
  /** The other fields as JSON; empty if there are none. */
  readonly fields: string;
}

const MAX_LINES = 300;
const MAX_MESSAGE_CHARS = 500;
const MAX_FIELDS_CHARS = 3_000;
/** A longer one is not parsed. */
const MAX_LINE_CHARS = 65_536;

/** Matches the first field of a line; a later field with that name is the caller's. */
const KEPT = /^\{"level":"(info|warn|error|fatal)"/;
const FAULTS = new Set(["error", "fatal"]);

/** Reports whether a line of the logger is of level info or above. */
export function isKeptLine(line: string): boolean {
  return KEPT.test(line);
}

/** The last lines of level warn and above of all threads, in bounded memory. */
export class RecentLines {
  /** Called also for lines of level info. */
  onLine: ((line: Omit<RecentLine, "seq">) => void) | undefined;
  readonly #lines: RecentLine[] = [];
  readonly #faults = new Map<string, RecentLine>();
  #seq = 0;

  /** @param thread from a fixed set of names */
  add(thread: string, line: string): void {
    const parsed = { thread, ...parse(line) };
    this.onLine?.(parsed);
    if (parsed.level === "info") return;
    const kept = { seq: ++this.#seq, ...parsed };
    this.#lines.push(kept);
    if (this.#lines.length > MAX_LINES) this.#lines.shift();
    if (FAULTS.has(kept.level)) this.#faults.set(thread, kept);
  }

  /** Returns the lines after a number, oldest first. A number from an earlier run of the process counts as 0. */
  after(seq: number): readonly RecentLine[] {
    const from = seq > this.#seq ? 0 : seq;
    return this.#lines.filter((line) => line.seq > from);
  }

  /** Returns a thread's last line of level error or above. */
  lastFaultOf(thread: string): RecentLine | undefined {
    return this.#faults.get(thread);
  }
}

function parse(line: string): Omit<RecentLine, "seq" | "thread"> {
  const event = line.length <= MAX_LINE_CHARS ? parseJson(line) : undefined;
  if (typeof event !== "object" || event === null)
    return { at: new Date().toISOString(), level: "warn", message: "a line that is too long", fields: "" };
  const { level, time, msg, ...fields } = event as Record<string, unknown>;
  const text = Object.keys(fields).length === 0 ? "" : JSON.stringify(fields);
  return {
    at: String(time),
    level: KEPT.exec(line)?.[1] ?? String(level),
    message: cut(printable(String(msg ?? "")), MAX_MESSAGE_CHARS),
    fields: cut(printable(text), MAX_FIELDS_CHARS),
  };
}

function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}…`;
}

const LINES_PER_SECOND = 200;

/**
 * Passes on at most 200 lines a second, so that a thread that logs endlessly does not occupy the thread that stores the lines. The next
 * second begins with a line with the number of lines left out.
 */
export function limitedLines(keep: KeepLine, monotonicMs: () => number = () => performance.now()): KeepLine {
  let sinceMs = Number.NEGATIVE_INFINITY;
  let count = 0;
  return (line) => {
    const nowMs = monotonicMs();
    if (nowMs - sinceMs >= 1000) {
      if (count > LINES_PER_SECOND) keep(leftOut(count - LINES_PER_SECOND));
      sinceMs = nowMs;
      count = 0;
    }
    count += 1;
    if (count <= LINES_PER_SECOND) keep(line);
  };
}

function leftOut(lines: number): string {
  const line = { level: "warn", time: new Date().toISOString(), lines, msg: "Left out lines of the log" };
  return JSON.stringify(line);
}
