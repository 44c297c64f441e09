import type { StateClock } from "../db/state/state-clock.ts";
import type { Clock } from "../runtime/clock.ts";
import type { NodeSignals } from "./node-signals.ts";

/** The clocks of two nodes may differ by this much, so that no node still needs what another one deletes. */
const SWEEP_MARGIN_MS = 60_000;

/** The clock of a state that nodes share: this machine's clock, with the measured offset of PostgreSQL's. */
export function createOffsetClock(clock: Clock, signals: Pick<NodeSignals, "clockOffsetMs">): StateClock {
  const nowMs = () => clock.nowMs() + signals.clockOffsetMs;
  return { nowMs, sweepableSecs: () => Math.floor((nowMs() - SWEEP_MARGIN_MS) / 1000) };
}
