import { createSteadyClock, type StateClock } from "../../../src/db/state/state-clock.ts";
import type { ManualClock } from "../clock.ts";

/** The state's clock over a clock that is advanced and does not jump. */
export function steadyClock(clock: ManualClock): StateClock {
  return createSteadyClock({ clock, monotonicMs: () => clock.nowMs() });
}
