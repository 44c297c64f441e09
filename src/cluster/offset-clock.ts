import type { StateClock } from "../db/state/state-clock.ts";
import type { Clock } from "../runtime/clock.ts";
import type { NodeSignals } from "./node-signals.ts";

/** The clocks of two nodes may differ by this much, so that no node still needs what another one deletes. */
const SWEEP_MARGIN_MS = 60_000;

export interface OffsetClockOptions {
  readonly clock: Clock;
  readonly signals: Pick<NodeSignals, "clockOffsetMs" | "clockMeasurement">;
  /** A monotonic clock that advances at the rate of real time. */
  readonly monotonicMs?: () => number;
}

/**
 * The clock of a state that nodes share: this machine's clock, with the measured offset of PostgreSQL's. It follows monotonic
 * time from one measurement to the next, so that a jump of this machine's clock neither expires nor leases anything.
 */
export function createOffsetClock(options: OffsetClockOptions): StateClock {
  const { clock, signals, monotonicMs = () => performance.now() } = options;
  let measurement: number | undefined;
  /** The state's clock minus the monotonic one. */
  let differenceMs = 0;
  function nowMs(): number {
    const latest = signals.clockMeasurement;
    if (latest !== measurement) {
      measurement = latest;
      differenceMs = clock.nowMs() + signals.clockOffsetMs - monotonicMs();
    }
    return Math.floor(monotonicMs() + differenceMs);
  }
  return { nowMs, sweepableSecs: () => Math.floor((nowMs() - SWEEP_MARGIN_MS) / 1000) };
}
