import type { StateClock } from "../db/state/state-clock.ts";
import { type Clock, systemClock } from "../runtime/clock.ts";
import type { NodeSignals } from "./node-signals.ts";

/** The clocks of two nodes may differ by this much, so that no node still needs what another one deletes. */
const SWEEP_MARGIN_MS = 60_000;

type StateTime = Pick<NodeSignals, "stateTimeMs">;

/** The clock of PostgreSQL as the main thread has measured it; before that, this machine's. */
export function createSharedClock(signals: StateTime): StateClock {
  const nowMs = () => signals.stateTimeMs ?? systemClock.nowMs();
  return { nowMs, sweepableSecs: () => Math.floor((nowMs() - SWEEP_MARGIN_MS) / 1000) };
}

/**
 * The clock by which the secrets, keys and sessions of state.db expire: the later one of its clock, which is not set back, and this
 * machine's, which has continued while the node was down. So no step of the machine's clock lets them live longer.
 */
export function createExpiryClock(signals: StateTime, clock: Clock = systemClock): Clock {
  return { nowMs: () => Math.max(clock.nowMs(), signals.stateTimeMs ?? 0) };
}
