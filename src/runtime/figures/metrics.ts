import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { serviceNames } from "../../config/names.ts";
import type { Config } from "../../config/schema.ts";
import { commit, version } from "../../version.ts";
import { ownLoopDelays } from "../loop-monitor.ts";

/** The metrics of the process. Every registered name starts with `prefix`. */
export type Metrics = ReturnType<typeof createMetrics>;

/**
 * The default metrics of prom-client that are correct on Bun. The others are wrong: V8's heap spaces, Node's garbage collector and handle
 * counts are zero, and the heap is the whole address space.
 */
const CORRECT_ON_BUN = [
  "process_cpu_user_seconds_total",
  "process_cpu_system_seconds_total",
  "process_cpu_seconds_total",
  "process_start_time_seconds",
  "process_resident_memory_bytes",
  "process_open_fds",
  "process_max_fds",
  "nodejs_heap_size_total_bytes",
  "nodejs_heap_size_used_bytes",
];

/**
 * How often prom-client samples the event loop, ms: practically never, because this thread has a monitor, and each sample would wake it.
 */
const LAG_SAMPLE_MS = 2 ** 31 - 1;

/** Creates the registry of a process, with process metrics and `build_info`. */
export function createMetrics(config: Config) {
  const registry = new Registry();
  const prefix = serviceNames(config.service.name).metricPrefix;
  collectDefaultMetrics({ register: registry, prefix, eventLoopMonitoringPrecision: LAG_SAMPLE_MS });
  const included = new Set(CORRECT_ON_BUN.map((name) => `${prefix}${name}`));
  for (const { name } of registry.getMetricsAsArray())
    if (!included.has(name)) registry.removeSingleMetric(name);
  new Gauge({
    name: `${prefix}nodejs_eventloop_lag_p99_seconds`,
    help: "The p99 of the delays of the event loop in a minute.",
    registers: [registry],
    collect() {
      this.set(ownLoopDelays().p99Ms / 1000);
    },
  });
  new Gauge({
    name: `${prefix}build_info`,
    help: "Always 1; its labels name the running build.",
    labelNames: ["version", "commit"],
    registers: [registry],
  }).set({ version, commit }, 1);
  return { registry, prefix };
}
