import type { StreamEvent } from "../data/event-stream.ts";

/** Maximum number of rows on the page. */
export const MAX_ROWS = 300;
const RATE_WINDOW_MS = 60_000;

/** A row of the stream: an event, or a gap. */
export type StreamRow =
  | { readonly id: number; readonly event: StreamEvent }
  | { readonly id: number; readonly gapAtMs: number };

/**
 * The last rows of a stream, newest first, and the number of events that arrived. Rows are added in groups, to limit the number of
 * renders.
 */
export class EventLog {
  readonly #maxRows: number;
  readonly #beganMs: number;
  /** Events from before the stream started. */
  #before = 0;
  /** Before this time, not all events are known. */
  #knownSinceMs = Number.NEGATIVE_INFINITY;
  #rows: readonly StreamRow[] = [];
  #waiting: StreamRow[] = [];
  #times: number[] = [];
  #nextId = 0;
  #total = 0;

  /** @param beganMs when the stream started with the newest `maxRows` earlier events. Default: with none. */
  constructor({
    maxRows = MAX_ROWS,
    beganMs = Number.NEGATIVE_INFINITY,
  }: { readonly maxRows?: number; readonly beganMs?: number } = {}) {
    this.#maxRows = maxRows;
    this.#beganMs = beganMs;
  }

  get rows(): readonly StreamRow[] {
    return this.#rows;
  }

  /** Returns the number of events since the log was created. */
  get total(): number {
    return this.#total;
  }

  add(event: StreamEvent, nowMs: number): void {
    this.#waiting.push({ id: this.#nextId++, event });
    this.#total++;
    this.#times.push(nowMs);
    if (nowMs <= this.#beganMs) this.#before++;
    // There may be more than those it started with.
    if (nowMs <= this.#beganMs && this.#before === this.#maxRows)
      this.#knownSinceMs = this.#times[0] ?? nowMs;
    this.#dropWaiting();
  }

  addGap(nowMs: number): void {
    this.#waiting.push({ id: this.#nextId++, gapAtMs: nowMs });
    this.#knownSinceMs = nowMs;
    this.#dropWaiting();
  }

  /** Adds the rows that have arrived since the last call. Returns their number. */
  flush(): number {
    const added = this.#waiting.length;
    if (added > 0) this.#rows = [...this.#waiting.reverse(), ...this.#rows].slice(0, this.#maxRows);
    this.#waiting = [];
    return added;
  }

  /** Returns the number of events in the last minute, and whether there may have been more. */
  perMinute(nowMs: number): { readonly count: number; readonly isAtLeast: boolean } {
    const from = nowMs - RATE_WINDOW_MS;
    const first = this.#times.findIndex((time) => time >= from);
    this.#times = first < 0 ? [] : this.#times.slice(first);
    return { count: this.#times.length, isAtLeast: this.#knownSinceMs > from };
  }

  #dropWaiting(): void {
    if (this.#waiting.length > this.#maxRows) this.#waiting.shift();
    if (this.#times.length > 200_000) this.#times.splice(0, 100_000);
  }
}
