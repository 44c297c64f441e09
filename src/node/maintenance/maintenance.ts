import type { WorkLease } from "../../cluster/postgres/work-lease.ts";
import type { OfferedBackup } from "../../console/console-rpc.ts";
import type { OperatorRefusal } from "../../console/operator/operator-sessions.ts";
import type { BackupsReport } from "../../console/operator/reports.ts";
import type { Sweep } from "../../db/state/state-db.ts";
import { StateUnavailable } from "../../db/state/unavailable.ts";
import type { HistoryStats } from "../../history/history.ts";
import type { HistoryRpc } from "../../history/rpc.ts";
import type { Result } from "../../lib/result.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import { counter, figureOf, gauge } from "../../runtime/figures/figures.ts";
import type { BackupStats } from "../backup/backup-schedule.ts";

/** Maintenance stats since the process started. */
export interface MaintenanceStats {
  readonly runs: number;
  /** Sweeps that failed. */
  readonly faults: number;
  /** Unix seconds; null before the first run has ended. */
  readonly lastRunAt: number | null;
  readonly lastRunMs: number;
  /** Number of rows deleted so far, by sweep. */
  readonly deletedRows: Readonly<Record<string, number>>;
  /** Sweeps that the last run did not finish, because they reached the limit of steps or failed. */
  readonly behind: readonly string[];
}

/** The methods that maintenance offers to other threads. */
export interface MaintenanceRpc extends HistoryRpc {
  stats(): MaintenanceStats & {
    /** Null if no backups are scheduled. */
    readonly backup: BackupStats | null;
    /** Null if the history is off. */
    readonly history: HistoryStats | null;
  };
  backups(): Promise<BackupsReport>;
  /** Starts a backup of the state. */
  backUp(): Result<null, OperatorRefusal>;
  /** See `OperatorBackups`. */
  checkBackup(name: string): Promise<Result<null, OperatorRefusal>>;
  offerBackup(name: string): Promise<Result<string, OperatorRefusal>>;
  takeBackup(ticket: string): Result<OfferedBackup, OperatorRefusal>;
  backupTaken(): void;
}

export interface Maintenance {
  stats(): MaintenanceStats;
  /** Runs every sweep once. Each ends when nothing is left, its steps are used up or `signal` aborts. */
  run(signal?: AbortSignal): Promise<void>;
}

/** Bounds of a run. The next run continues with the rest. */
export interface MaintenanceLimits {
  /** Each step is one short transaction, so that requests are not delayed. */
  readonly rowsPerStep: number;
  readonly maxStepsPerSweep: number;
  /** Time limit of one sweep. */
  readonly maxMsPerSweep: number;
}

/** In SQLite, requests wait for the writer while it sweeps. */
export const SQLITE_LIMITS: MaintenanceLimits = {
  rowsPerStep: 500,
  maxStepsPerSweep: 40,
  maxMsPerSweep: Number.POSITIVE_INFINITY,
};
/** In PostgreSQL all nodes together leave more to sweep, and nothing waits for it. */
export const POSTGRES_LIMITS: MaintenanceLimits = {
  rowsPerStep: 5_000,
  maxStepsPerSweep: Number.POSITIVE_INFINITY,
  maxMsPerSweep: 20_000,
};

/** The pause between two steps, in which the state writer serves other calls. */
const STEP_DELAY_MS = 5;

export function createMaintenance(deps: {
  readonly sweeps: readonly Sweep[];
  readonly clock: Clock;
  readonly limits: MaintenanceLimits;
  /** Acquired before each step if several nodes share the state. If it cannot be acquired, another node is sweeping. */
  readonly lease?: WorkLease | undefined;
  /** Called for each sweep that fails. The other sweeps still run, and the next run retries the failed one. */
  readonly onFault: (sweep: string, cause: unknown) => void;
}): Maintenance {
  const { sweeps, clock, limits, lease, onFault } = deps;
  let runs = 0;
  let faults = 0;
  let lastRunAt: number | null = null;
  let lastRunMs = 0;
  let behind: readonly string[] = [];
  const deletedRows: Record<string, number> = Object.fromEntries(sweeps.map(({ name }) => [name, 0]));

  /** Returns whether the sweep has rows left after its steps. */
  async function runSweep(sweep: Sweep, signal: AbortSignal | undefined): Promise<boolean> {
    const untilMs = performance.now() + limits.maxMsPerSweep;
    for (let steps = 0; steps < limits.maxStepsPerSweep && performance.now() < untilMs; steps++) {
      if (signal?.aborted || (lease && !(await lease.hold()))) break;
      const { deleted, more } = await sweep.step(limits.rowsPerStep);
      deletedRows[sweep.name] = (deletedRows[sweep.name] ?? 0) + deleted;
      if (!more) return false;
      await Bun.sleep(STEP_DELAY_MS);
    }
    return true;
  }

  /** Reports whether this node is the one that sweeps. */
  async function isHeld(lease: WorkLease): Promise<boolean> {
    try {
      const isHeld = await lease.hold();
      // What this node left is for the one that sweeps now.
      if (!isHeld) behind = [];
      return isHeld;
    } catch (cause) {
      faults += 1;
      onFault("lease", cause);
      return false;
    }
  }

  return {
    async run(signal) {
      if (lease && !(await isHeld(lease))) return;
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
          left.push(sweep.name);
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

const figure = figureOf<ReturnType<MaintenanceRpc["stats"]>>();

/** The figures of maintenance and of scheduled backups. */
export const maintenanceFigures = [
  figure({ read: ({ runs }) => runs, status: "maintenance.runs" }),
  figure({
    read: ({ faults }) => faults,
    metric: counter("maintenance_faults_total", "Sweeps that failed."),
    status: "maintenance.faults",
  }),
  figure({ read: ({ lastRunAt }) => lastRunAt, status: "maintenance.last_run_at" }),
  figure({ read: ({ lastRunMs }) => lastRunMs, status: "maintenance.last_run_ms" }),
  figure({ read: ({ deletedRows }) => deletedRows, status: "maintenance.deleted_rows" }),
  figure({ read: ({ behind }) => behind, status: "maintenance.behind" }),
  figure({
    read: ({ backup }) => backup,
    status: [
      "backup",
      (backup) =>
        backup && {
          last_at: backup.lastAt,
          last_bytes: backup.lastBytes,
          last_duration_ms: backup.lastDurationMs,
          failure: backup.failure,
          failures: backup.failures,
          next_at: backup.nextAt,
        },
    ],
  }),
  figure({
    read: ({ history }) => history,
    status: [
      "history",
      (history) =>
        history && {
          bytes: history.bytes,
          max_bytes: history.maxBytes,
          figures_from: history.figuresFrom,
          log_from: history.logFrom,
          recorded_at: history.recordedAt,
          fault: history.fault,
        },
    ],
  }),
  figure({
    read: ({ backup }) => backup?.failures ?? 0,
    metric: counter("backup_failures_total", "Scheduled backups that failed."),
  }),
  figure({
    read: ({ backup }) => backup && (backup.lastAt ?? 0),
    metric: gauge(
      "backup_last_timestamp_seconds",
      "When the newest backup of the scheduled kind was started; 0 when there is none, no value without a schedule.",
    ),
  }),
];

const INTERVAL_MS = 60_000;

/**
 * Runs maintenance now and at fixed intervals of real time, independent of changes to the system clock. Skips an interval
 * while a run is in progress.
 *
 * @returns stops the schedule; resolves when the run in progress has finished its current step.
 */
export function scheduleMaintenance(maintenance: Maintenance, intervalMs = INTERVAL_MS): () => Promise<void> {
  const ended = new AbortController();
  let underWay: Promise<void> | undefined;
  const runOnce = () => {
    underWay ??= maintenance.run(ended.signal).finally(() => {
      underWay = undefined;
    });
  };
  const timer = setInterval(runOnce, intervalMs);
  runOnce();
  return async () => {
    clearInterval(timer);
    ended.abort();
    await underWay;
  };
}
