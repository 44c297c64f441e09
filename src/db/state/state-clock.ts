import type { Clock } from "../../runtime/clock.ts";

/**
 * The clock by which the state expires data. The machine's clock may jump forward and back. Data that a jump expired would be
 * missing after the jump is undone.
 */
export interface StateClock {
  /** Whole unix ms. Never goes back, even over a restart, and advances at the rate of real time. */
  nowMs(): number;
  /**
   * Unix seconds. Data that expired before this time, on the machine's clock, may be deleted. It is behind the machine's
   * clock by a margin and by any unconfirmed jump.
   */
  sweepableSecs(): number;
}

/** Unix seconds of the state's clock. */
export function stateSecs(clock: StateClock): number {
  return Math.floor(clock.nowMs() / 1000);
}

/** Corrections of the machine's clock up to this size are normal. */
const JUMP_MS = 30_000;
/** A forward jump is trusted after the machine's clock has run steadily for this long. */
const STEADY_MS = 3_600_000;
/** More than two corrections that do not count as jumps. */
const SWEEP_MARGIN_MS = 2 * JUMP_MS;

export interface SteadyClockOptions {
  readonly clock: Clock;
  /** A monotonic clock that advances at the rate of real time. */
  readonly monotonicMs?: () => number;
  /** The saved time of an earlier process; undefined if there was none. */
  readonly savedMs?: number;
}

/**
 * Follows the machine's clock while it runs steadily. Follows monotonic time when the machine's clock jumps, or is behind the
 * saved time of an earlier process.
 */
export function createSteadyClock(options: SteadyClockOptions): StateClock {
  const { clock, monotonicMs = () => performance.now(), savedMs } = options;
  let readAtMs = monotonicMs();
  let nowMs = savedMs ?? clock.nowMs();
  /** The machine's clock minus the monotonic one, constant since `steadySinceMs`. */
  let differenceMs = clock.nowMs() - readAtMs;
  // Without an earlier process there is no stored data that a jump could expire.
  let steadySinceMs = savedMs === undefined ? Number.NEGATIVE_INFINITY : readAtMs;

  function read(): number {
    const monotonic = monotonicMs();
    const wallMs = clock.nowMs();
    nowMs += Math.max(monotonic - readAtMs, 0);
    readAtMs = monotonic;
    if (Math.abs(wallMs - monotonic - differenceMs) > JUMP_MS) {
      differenceMs = wallMs - monotonic;
      steadySinceMs = monotonic;
    }
    if (wallMs > nowMs && monotonic - steadySinceMs >= STEADY_MS) nowMs = wallMs;
    return nowMs;
  }

  return {
    nowMs: () => Math.floor(read()),
    sweepableSecs: () => Math.floor((Math.min(read(), clock.nowMs()) - SWEEP_MARGIN_MS) / 1000),
  };
}
