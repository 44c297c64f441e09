import { Gauge } from "prom-client";
import type { PgStatsSnapshot } from "../db/postgres/pool-stats.ts";
import type { Metrics } from "../runtime/metrics.ts";
import { statsMetrics } from "../runtime/stats-metrics.ts";
import type { ClusterStats } from "./postgres/membership.ts";

/** What the metrics of a state in PostgreSQL are read from. Nothing of it asks PostgreSQL. */
interface ClusterSources {
  readonly isAway: () => boolean;
  readonly cluster: () => ClusterStats;
  readonly calls: () => PgStatsSnapshot;
}

/** Registers the metrics of a state in PostgreSQL and of the nodes that share it. */
export function registerClusterMetrics(metrics: Metrics, { isAway, cluster, calls }: ClusterSources): void {
  const ofCalls = statsMetrics(metrics, async () => calls());
  const ofCluster = statsMetrics(metrics, async () => cluster());
  new Gauge({
    name: `${metrics.prefix}state_up`,
    help: "1 while PostgreSQL answers this node, else 0.",
    registers: [metrics.registry],
    collect() {
      this.set(isAway() ? 0 : 1);
    },
  });
  ofCalls.counter(
    "state_queries_total",
    "Decisions in PostgreSQL by outcome: done, unavailable or failed.",
    ["outcome"],
    (metric, { outcomes }) => {
      for (const [outcome, count] of Object.entries(outcomes)) metric.inc({ outcome }, count);
    },
  );
  ofCalls.durations(
    "state_query_seconds",
    "Time of a decision in PostgreSQL, with its waits and repetitions.",
    ({ durations }) => durations,
  );
  ofCalls.counter(
    "state_retries_total",
    "Repeated decisions by the class of the fault: not_sent, undone or unknown.",
    ["class"],
    (metric, { retries }) => {
      for (const [name, count] of Object.entries(retries)) metric.inc({ class: name }, count);
    },
  );
  ofCalls.counter(
    "state_pool_replaced_total",
    "Pools of connections that were given up because PostgreSQL did not answer.",
    [],
    (metric, { replaced }) => metric.inc(replaced),
  );
  ofCalls.gauge("state_connections_in_use", "Calls on a connection to PostgreSQL.", ({ inUse }) => inUse);
  ofCalls.gauge("state_waiting_calls", "Calls that wait for a connection.", ({ waiting }) => waiting);
  ofCluster.gauge(
    "state_clock_offset_seconds",
    "PostgreSQL's clock minus that of this machine.",
    ({ clockOffsetMs }) => clockOffsetMs / 1000,
  );
  ofCluster.counter(
    "state_rollbacks_total",
    "How often the state may have gone back to an earlier time.",
    [],
    (metric, { rollbacks }) => metric.inc(rollbacks),
  );
  ofCluster.gauge(
    "nodes_alive",
    "Live nodes of the state. Equal on all nodes: take the maximum, do not sum.",
    ({ nodes }) => nodes,
  );
  ofCluster.gauge(
    "node_fenced",
    "1 while this node starts no calls because it has not reached PostgreSQL, else 0.",
    ({ isFenced }) => (isFenced ? 1 : 0),
  );
}
