import type { PgStatsSnapshot } from "../db/postgres/pool-stats.ts";
import type { StateNode } from "../db/state/state-db.ts";
import { counter, counterBy, durations, figureOf, gauge } from "../runtime/figures/figures.ts";
import type { ClusterStats } from "./postgres/membership.ts";

/** A state in PostgreSQL and the nodes that share it, as far as known without a query. */
export interface PostgresState {
  readonly node: StateNode;
  /** The schema version of this release. */
  readonly schemaVersion: number;
  /** Returns why and since when PostgreSQL has not responded; undefined while it does. */
  away(): { readonly reason: string; readonly sinceMs: number } | undefined;
  cluster(): ClusterStats;
  calls(): PgStatsSnapshot;
}

const figure = figureOf<PostgresState>();

export const clusterFigures = [
  figure({ read: () => "postgres", status: "state.kind" }),
  figure({
    read: (postgres) => postgres.away() === undefined,
    metric: gauge("state_up", "1 while PostgreSQL responds to this node, else 0."),
    status: "state.reachable",
  }),
  figure({
    read: (postgres) => postgres.away(),
    status: ["state.away_since", (away) => (away ? Math.floor(away.sinceMs / 1000) : null)],
  }),
  figure({ read: (postgres) => postgres.away()?.reason ?? null, status: "state.reason" }),
  figure({ read: ({ schemaVersion }) => schemaVersion, status: "state.schema" }),
  figure({
    read: ({ cluster }) => cluster().clockOffsetMs / 1000,
    metric: gauge("state_clock_offset_seconds", "PostgreSQL's clock minus that of this machine."),
  }),
  figure({ read: ({ cluster }) => Math.round(cluster().clockOffsetMs), status: "state.clock_offset_ms" }),
  figure({ read: ({ calls }) => calls().inUse, status: "state.connections_in_use" }),
  figure({ read: ({ calls }) => calls().waiting, status: "state.waiting_calls" }),
  figure({
    read: ({ calls }) => calls().outcomes,
    metric: counterBy(
      "outcome",
      "state_queries_total",
      "Decisions in PostgreSQL by outcome: done, unavailable or failed.",
    ),
  }),
  figure({
    read: ({ calls }) => calls().durations,
    metric: durations(
      "state_query_seconds",
      "Time of a decision in PostgreSQL, with its waits and repetitions.",
    ),
  }),
  figure({ read: ({ cluster }) => cluster().hasSynchronousStandby, status: "state.synchronous_standby" }),
  figure({
    read: ({ cluster }) => cluster().rollbacks,
    metric: counter("state_rollbacks_total", "How often the state may have gone back to an earlier time."),
    status: "state.rollbacks",
  }),
  figure({
    read: ({ cluster }) => cluster().isFenced,
    metric: gauge(
      "node_fenced",
      "1 while this node starts no calls because it has not reached PostgreSQL, else 0.",
    ),
    status: "state.fenced",
  }),
  figure({ read: ({ node }) => node.nodeId, status: "nodes.node" }),
  figure({ read: ({ node }) => node.slot, status: "nodes.slot" }),
  figure({
    read: ({ cluster }) => cluster().nodes,
    metric: gauge(
      "nodes_alive",
      "Live nodes of the state. Equal on all nodes: take the maximum, do not sum.",
    ),
    status: "nodes.alive",
  }),
  figure({ read: ({ cluster }) => cluster().maintenance, status: "nodes.maintenance" }),
];
