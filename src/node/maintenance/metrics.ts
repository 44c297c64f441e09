import { Counter, Gauge } from "prom-client";
import type { Metrics } from "../../runtime/metrics.ts";
import type { MaintenanceStats } from "./maintenance.ts";

/**
 * Registers what maintenance tells of itself. Each metric asks for itself when somebody scrapes, because the registry
 * collects them side by side. The worker counts since its start, as a counter does, so each is set to what it says.
 */
export function registerMaintenanceMetrics(
  { registry, prefix }: Metrics,
  stats: () => Promise<MaintenanceStats>,
): void {
  const registers = [registry];
  new Counter({
    name: `${prefix}maintenance_runs_total`,
    help: "Runs of the maintenance of the state database.",
    registers,
    async collect() {
      const { runs } = await stats();
      this.reset();
      this.inc(runs);
    },
  });
  new Counter({
    name: `${prefix}maintenance_faults_total`,
    help: "Sweeps that ended with a fault.",
    registers,
    async collect() {
      const { faults } = await stats();
      this.reset();
      this.inc(faults);
    },
  });
  new Counter({
    name: `${prefix}maintenance_deleted_rows_total`,
    help: "Rows that had outlived their use and were deleted, by kind.",
    labelNames: ["kind"],
    registers,
    async collect() {
      const { deletedRows } = await stats();
      this.reset();
      for (const [kind, count] of Object.entries(deletedRows)) this.inc({ kind }, count);
    },
  });
  new Gauge({
    name: `${prefix}maintenance_behind`,
    help: "1 for a kind of row of which the last run left some for the next.",
    labelNames: ["kind"],
    registers,
    async collect() {
      const { deletedRows, behind } = await stats();
      for (const kind of Object.keys(deletedRows)) this.set({ kind }, behind.includes(kind) ? 1 : 0);
    },
  });
  new Gauge({
    name: `${prefix}maintenance_last_run_timestamp_seconds`,
    help: "When the last run ended; 0 before the first.",
    registers,
    async collect() {
      this.set((await stats()).lastRunAt ?? 0);
    },
  });
}
