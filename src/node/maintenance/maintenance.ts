import type { Sweep } from "../../db/state/sweep.ts";
import { StateUnavailable } from "../../db/state/unavailable.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { BackupStats } from "../snapshot/backup-schedule.ts";

/** Maintenance stats since the process started. */
export interface MaintenanceStats {
  readonly runs: number;
  /** Sweeps that failed. */
  readonly faults: number;
  /** Unix seconds; null before the first run has ended. */
  readonly lastRunAt: number | null;
  readonly lastRunMs: number;
  /** Rows deleted so far, by what was swept. */
  readonly deletedRows: Readonly<Record<string, number>>;
  /** Sweeps that the last run did not finish: they reached the limit of steps or failed over to the next run. */
  readonly behind: readonly string[];
}

/** The methods that maintenance offers to other threads. */
export interface MaintenanceRpc {
  stats(): MaintenanceStats & {
    /** Null when no backups are scheduled. */
    readonly backup: BackupStats | null;
  };
}

export interface Maintenance {
  stats(): MaintenanceStats;
  /** Runs every sweep once. Each ends when nothing is left, when its steps are used up or when `signal` aborts. */
  run(signal?: AbortSignal): Promise<void>;
}

/** Each step is one short transaction, so that requests are not delayed. */
export const ROWS_PER_STEP = 500;
/** Bounds a run. The next run continues with the rest. */
export const MAX_STEPS_PER_SWEEP = 40;
/** The gap between two steps, in which the state writer serves other calls. */
const STEP_DELAY_MS = 5;

export function createMaintenance(deps: {
  readonly sweeps: readonly Sweep[];
  readonly clock: Clock;
  /** Called for each sweep that fails. The other sweeps still run, and the next run retries the failed one. */
  readonly onFault: (sweep: string, cause: unknown) => void;
}): Maintenance {
  const { sweeps, clock, onFault } = deps;
  let runs = 0;
  let faults = 0;
  let lastRunAt: number | null = null;
  let lastRunMs = 0;
  let behind: readonly string[] = [];
  const deletedRows: Record<string, number> = Object.fromEntries(sweeps.map(({ name }) => [name, 0]));

  /** Returns whether the sweep has rows left after its steps. */
  async function runSweep(sweep: Sweep, signal: AbortSignal | undefined): Promise<boolean> {
    for (let steps = 0; steps < MAX_STEPS_PER_SWEEP && !signal?.aborted; steps++) {
      const { deleted, more } = await sweep.step(ROWS_PER_STEP);
      deletedRows[sweep.name] = (deletedRows[sweep.name] ?? 0) + deleted;
      if (!more) return false;
      await Bun.sleep(STEP_DELAY_MS);
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
          if (isUnavailable || (await runSweep(sweep, signal))) left.push(sweep.name);
        } catch (cause) {
          faults += 1;
          // The remaining sweeps wait for the next run, instead of each waiting for its own deadline.
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
