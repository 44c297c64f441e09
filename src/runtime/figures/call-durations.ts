/** Upper bounds of the buckets of call durations, in seconds. */
export const CALL_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

export interface DurationStats {
  /** The number of calls up to each bound of `CALL_SECONDS`, followed by that of all calls. */
  readonly byDuration: readonly number[];
  readonly secondsSum: number;
}

/** Counts outgoing calls by duration. */
export class CallDurations {
  readonly #byDuration = new Array<number>(CALL_SECONDS.length + 1).fill(0);
  #secondsSum = 0;

  count(durationMs: number): void {
    const seconds = durationMs / 1000;
    this.#secondsSum += seconds;
    for (const [at, bound] of [...CALL_SECONDS, Number.POSITIVE_INFINITY].entries()) {
      if (seconds <= bound) this.#byDuration[at] = (this.#byDuration[at] ?? 0) + 1;
    }
  }

  stats(): DurationStats {
    return { byDuration: [...this.#byDuration], secondsSum: this.#secondsSum };
  }
}
