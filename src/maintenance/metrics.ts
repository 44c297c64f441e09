import { Counter, Gauge } from "prom-client";
import type { Metrics } from "../app/metrics.ts";
import type { MaintenanceStats } from "./maintenance.ts";

/** Registers what maintenance tells of itself; it is asked when somebody scrapes. */
export function registerMaintenanceMetrics(
  { registry, prefix }: Metrics,
  stats: () => Promise<MaintenanceStats>,
): void {
  const registers = [registry];
  const runs = new Counter({
    name: `${prefix}maintenance_runs_total`,
    help: "Runs of the maintenance of the state database.",
    registers,
  });
  const faults = new Counter({
    name: `${prefix}maintenance_faults_total`,
    help: "Sweeps that ended with a fault.",
    registers,
  });
  const deleted = new Counter({
    name: `${prefix}maintenance_deleted_rows_total`,
    help: "Rows that had outlived their use and were deleted, by kind.",
    labelNames: ["kind"],
    registers,
  });
  const behind = new Gauge({
    name: `${prefix}maintenance_behind`,
    help: "1 for a kind of row of which the last run left some for the next.",
    labelNames: ["kind"],
    registers,
  });
  new Gauge({
    name: `${prefix}maintenance_last_run_timestamp_seconds`,
    help: "When the last run ended; 0 before the first.",
    registers,
    async collect() {
      const told = await stats();
      this.set(told.lastRunAt ?? 0);
      // The worker counts since its start, as a counter does; each is set to what the worker says.
      runs.reset();
      runs.inc(told.runs);
      faults.reset();
      faults.inc(told.faults);
      deleted.reset();
      for (const [kind, count] of Object.entries(told.deletedRows)) {
        deleted.inc({ kind }, count);
        behind.set({ kind }, told.behind.includes(kind) ? 1 : 0);
      }
    },
  });
}
