import type { Clock, SetTimer } from "../runtime/clock.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Pause after a failure, and while the index is being built, in milliseconds. */
const RETRY_MS = HOUR_MS;

/** Returns the latest time at `hourUtc` that is not after `nowMs`. */
function lastDueMs(hourUtc: number, nowMs: number): number {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS + hourUtc * HOUR_MS;
  return today <= nowMs ? today : today - DAY_MS;
}

export interface ScoreScheduleDeps {
  readonly clock: Clock;
  readonly setTimer: SetTimer;
  readonly hourUtc: number;
  /** Returns the time of the current scores in Unix milliseconds; undefined if there are none. */
  readonly lastRunMs: () => number | undefined;
  /** Computes the scores. Resolves with the reason if they could not be computed. */
  readonly run: () => Promise<string | undefined>;
}

export type ScoreSchedule = ReturnType<typeof scheduleScores>;

/**
 * Computes scores each day at a given hour, or as soon as the node runs after that time if the scores of the day are
 * missing. A failed run is repeated after an hour.
 */
export function scheduleScores({ clock, setTimer, hourUtc, lastRunMs, run }: ScoreScheduleDeps) {
  let running: Promise<void> | undefined;
  let fault: string | undefined;
  let isStopped = false;
  let cancel: (() => void) | undefined;
  const wait = (ms: number) => {
    if (!isStopped) cancel = setTimer(ms, next);
  };
  const next = () => {
    const nowMs = clock.nowMs();
    const dueMs = lastDueMs(hourUtc, nowMs);
    const lastMs = lastRunMs() ?? Number.NEGATIVE_INFINITY;
    // A run dated on a future day was made while the clock was wrong.
    if (lastMs >= dueMs && lastMs < dueMs + DAY_MS) return wait(dueMs + DAY_MS - nowMs);
    running = run().then((reason) => {
      running = undefined;
      fault = reason;
      wait(reason === undefined ? lastDueMs(hourUtc, clock.nowMs()) + DAY_MS - clock.nowMs() : RETRY_MS);
    });
  };
  next();
  return {
    isRunning: (): boolean => running !== undefined,
    lastFault: (): string | undefined => fault,
    /** Starts no further run. Resolves when the current one has ended. */
    async stop(): Promise<void> {
      isStopped = true;
      cancel?.();
      await running;
    },
  };
}
