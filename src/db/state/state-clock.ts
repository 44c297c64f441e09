import type { Clock } from "../../runtime/clock.ts";

/**
 * The time by which the state decides what has expired. The clock of the machine may jump, forward and back, and what
 * was deleted or let go because of a jump would be missed once the jump is undone.
 */
export interface StateClock {
  /** Unix ms. Never goes back, also not over a restart, and goes on at the pace of real time. */
  nowMs(): number;
  /**
   * Unix seconds: what had outlived its use by then, on the clock of the machine, may be deleted. Behind the clock of the
   * machine by a margin, and by the whole of a jump that is not confirmed yet.
   */
  sweepableSecs(): number;
}

/** Unix seconds of the state's clock. */
export function stateSecs(clock: StateClock): number {
  return Math.floor(clock.nowMs() / 1000);
}

/** Corrections of the machine's clock up to this are everyday. */
const JUMP_MS = 30_000;
/** A jump forward is believed when the machine's clock has then run on for so long at the pace of real time. */
const STEADY_MS = 3_600_000;
/** More than two corrections that count as no jump. */
const SWEEP_MARGIN_MS = 2 * JUMP_MS;

export interface SteadyClockOptions {
  readonly clock: Clock;
  /** Milliseconds that only go forward, at the pace of real time. */
  readonly monotonicMs?: () => number;
  /** Where the state's clock stood in an earlier process; undefined where there was none. */
  readonly savedMs?: number;
}

/**
 * Follows the clock of the machine as long as that runs steadily. It goes on by monotonic time when the machine's clock jumps,
 * and when that is behind where the state's clock stood before a restart.
 */
export function createSteadyClock(options: SteadyClockOptions): StateClock {
  const { clock, monotonicMs = () => performance.now(), savedMs } = options;
  let readAtMs = monotonicMs();
  let nowMs = savedMs ?? clock.nowMs();
  /** Of the machine's clock to the monotonic one, since when it has run steadily. */
  let differenceMs = clock.nowMs() - readAtMs;
  // Without an earlier process there is nothing that a jump could do harm to.
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
    nowMs: read,
    sweepableSecs: () => Math.floor((Math.min(read(), clock.nowMs()) - SWEEP_MARGIN_MS) / 1000),
  };
}
