import type { Clock } from "../../process/clock.ts";
import type { StateDatabase } from "../database.ts";
import { createSteadyClock } from "../state-clock.ts";
import type { QueueLimits } from "./delivery-publications.ts";
import { savedClockSecs } from "./saved-clock.ts";
import { StateWriter } from "./state-writer.ts";
import { stateDecisions } from "./stores.ts";
import { sweepDecisions } from "./sweeps.ts";

/** The writer of a state database over its connection; the state's clock goes on where it was saved. */
export function openWriterOf(
  db: StateDatabase,
  options: { readonly limits: QueueLimits; readonly clock: Clock; readonly monotonicMs?: () => number },
): StateWriter {
  const saved = savedClockSecs(db);
  const clock = createSteadyClock({
    clock: options.clock,
    monotonicMs: options.monotonicMs,
    savedMs: saved === undefined ? undefined : saved * 1000,
  });
  return new StateWriter({
    db,
    decisions: stateDecisions(db, { limits: options.limits, clock }),
    sweeps: sweepDecisions(db, clock),
    clock,
  });
}
