import type { Sweep } from "../../db/state/stores.ts";
import { StateUnavailable } from "../../db/state/unavailable.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";

/** What maintenance did since the process started. */
export interface MaintenanceStats {
  readonly runs: number;
  /** Sweeps that ended with a fault. */
  readonly faults: number;
  /** Unix seconds; null before the first run has ended. */
  readonly lastRunAt: number | null;
  readonly lastRunMs: number;
  /** Rows deleted so far, by what was swept. */
  readonly deletedRows: Readonly<Record<string, number>>;
  /** What the last run left for the next one, because it was too much for one run. */
  readonly behind: readonly string[];
}

export interface Maintenance {
  /** Sweeps once; resolves when there is nothing left to do, or the run's share is done, or `signal` aborts. */
  run(signal?: AbortSignal): Promise<void>;
  stats(): MaintenanceStats;
}

/** Each step is one transaction, short enough that no request notices it. */
export const ROWS_PER_STEP = 500;
/** A run ends in bounded time; what is left waits for the next one. */
export const MAX_STEPS_PER_SWEEP = 40;
/** Between two steps the writer of the state has time for others. */
const PAUSE_MS = 5;

export function createMaintenance(parts: {
  readonly sweeps: readonly Sweep[];
  readonly clock: Clock;
  /** Told of each sweep that fails; the others go on, and it gets another chance in the next run. */
  readonly onFault: (sweep: string, cause: unknown) => void;
}): Maintenance {
  const { sweeps, clock, onFault } = parts;
  let runs = 0;
  let faults = 0;
  let lastRunAt: number | null = null;
  let lastRunMs = 0;
  let behind: readonly string[] = [];
  const deletedRows: Record<string, number> = Object.fromEntries(sweeps.map(({ name }) => [name, 0]));

  /** Whether the sweep has more to do than its share. */
  async function carryOut(sweep: Sweep, signal: AbortSignal | undefined): Promise<boolean> {
    for (let steps = 0; steps < MAX_STEPS_PER_SWEEP && !signal?.aborted; steps++) {
      const { deleted, more } = await sweep.step(ROWS_PER_STEP);
      deletedRows[sweep.name] = (deletedRows[sweep.name] ?? 0) + deleted;
      if (!more) return false;
      await Bun.sleep(PAUSE_MS);
    }
    return true;
  }

  return {
    async run(signal) {
      const startedMs = performance.now();
      const left: string[] = [];
      let isUnavailable = false;
      for (const sweep of sweeps) {
        try {
          if (isUnavailable || (await carryOut(sweep, signal))) left.push(sweep.name);
        } catch (cause) {
          faults += 1;
          // What is left waits for the next run, instead of one deadline after the other.
          isUnavailable = cause instanceof StateUnavailable;
          onFault(sweep.name, cause);
        }
      }
      behind = left;
      runs += 1;
      lastRunAt = nowSecs(clock);
      lastRunMs = Math.round(performance.now() - startedMs);
    },
    stats: () => ({ runs, faults, lastRunAt, lastRunMs, deletedRows: { ...deletedRows }, behind }),
  };
}
