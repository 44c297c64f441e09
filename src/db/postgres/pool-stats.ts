import { CallDurations, type DurationStats } from "../../lib/call-durations.ts";
import type { PgFault } from "./faults.ts";

/** How a decision ended: done, given up as `StateUnavailable`, or failed by an error that is no fault of availability. */
export type PgOutcome = "done" | "unavailable" | "failed";

/** Counts since the start of the thread. */
export interface PgStats {
  /** Decisions by outcome. */
  readonly outcomes: Record<PgOutcome, number>;
  /** Repetitions by the class of the fault before them. */
  readonly retries: Record<PgFault, number>;
  /** Pools whose connections were given up. */
  replaced: number;
  count(outcome: PgOutcome, durationMs: number): void;
  durations(): DurationStats;
}

export function createPgStats(): PgStats {
  const durations = new CallDurations();
  const stats: PgStats = {
    outcomes: { done: 0, unavailable: 0, failed: 0 },
    retries: { not_sent: 0, undone: 0, unknown: 0 },
    replaced: 0,
    count(outcome, durationMs) {
      stats.outcomes[outcome] += 1;
      durations.count(durationMs);
    },
    durations: () => durations.stats(),
  };
  return stats;
}
