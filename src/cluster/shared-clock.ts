import type { StateClock } from "../db/state/state-clock.ts";
import { type Clock, systemClock } from "../runtime/clock.ts";
import type { NodeSignals } from "./node-signals.ts";

/** The clocks of two nodes may differ by this much, so that no node deletes what another one still needs. */
const SWEEP_MARGIN_MS = 60_000;

type StateTime = Pick<NodeSignals, "stateTimeMs">;

/** Creates the clock of PostgreSQL as measured by the main thread; before that, it is this machine's. */
export function createSharedClock(signals: StateTime): StateClock {
  const nowMs = () => signals.stateTimeMs ?? systemClock.nowMs();
  return { nowMs, dueMs: nowMs, sweepableSecs: () => Math.floor((nowMs() - SWEEP_MARGIN_MS) / 1000) };
}

/** A correction of the machine's clock up to this size does not set the expiry clock back. */
const CORRECTION_MS = 30_000;

/**
 * Creates the clock by which the secrets, keys and sessions of state.db expire: the later one of state.db's clock, which is never set
 * back, and this machine's, which has continued while the node was down. Setting the machine's clock therefore does not extend their
 * lives; while the clock of state.db lags after a start, no correction of up to 30 seconds does.
 *
 * @param monotonicMs advances at the rate of real time.
 */
export function createExpiryClock(
  signals: StateTime,
  clock: Clock = systemClock,
  monotonicMs = () => performance.now(),
): Clock {
  let last = { atMs: monotonicMs(), nowMs: Number.NEGATIVE_INFINITY };
  return {
    nowMs() {
      const atMs = monotonicMs();
      const latestMs = Math.max(clock.nowMs(), signals.stateTimeMs ?? 0);
      const continuedMs = last.nowMs + (atMs - last.atMs);
      const isCorrection = continuedMs > latestMs && continuedMs - latestMs <= CORRECTION_MS;
      last = { atMs, nowMs: isCorrection ? continuedMs : latestMs };
      return Math.floor(last.nowMs);
    },
  };
}
