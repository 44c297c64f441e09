import { Counter, Gauge } from "prom-client";
import type { Metrics } from "../../runtime/metrics.ts";
import { statsMetrics } from "../../runtime/stats-metrics.ts";
import type { MaintenanceRpc } from "./maintenance.ts";

/**
 * Registers the metrics of maintenance. Each metric fetches the stats itself when it is scraped, because the registry
 * collects metrics concurrently. The worker's counts start at its own start, like a counter's, so each metric is set to
 * the reported value.
 */
export function registerMaintenanceMetrics(
  metrics: Metrics,
  stats: () => Promise<ReturnType<MaintenanceRpc["stats"]>>,
): void {
  const { registry, prefix } = metrics;
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
    help: "Sweeps that failed.",
    registers,
    async collect() {
      const { faults } = await stats();
      this.reset();
      this.inc(faults);
    },
  });
  new Counter({
    name: `${prefix}maintenance_deleted_rows_total`,
    help: "Expired and orphaned rows that were deleted, by kind.",
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
    help: "1 for a kind of row that the last run did not finish, else 0.",
    labelNames: ["kind"],
    registers,
    async collect() {
      const { deletedRows, behind } = await stats();
      for (const kind of Object.keys(deletedRows)) this.set({ kind }, behind.includes(kind) ? 1 : 0);
    },
  });
  new Gauge({
    name: `${prefix}maintenance_last_run_timestamp_seconds`,
    help: "When the last run finished; 0 before the first.",
    registers,
    async collect() {
      this.set((await stats()).lastRunAt ?? 0);
    },
  });
  const { counter, gauge } = statsMetrics(metrics, stats);
  counter("backup_failures_total", "Scheduled backups that failed.", [], (metric, { backup }) =>
    metric.inc(backup?.failures ?? 0),
  );
  gauge(
    "backup_last_timestamp_seconds",
    "When the newest backup of the scheduled kind was started; 0 when there is none, no value without a schedule.",
    ({ backup }) => backup && (backup.lastAt ?? 0),
  );
  gauge("backup_last_bytes", "Compressed size of the last backup.", ({ backup }) => backup?.lastBytes ?? 0);
  gauge(
    "backup_last_seconds",
    "Duration of the last backup.",
    ({ backup }) => (backup?.lastDurationMs ?? 0) / 1000,
  );
}
