import type { NodeSignals } from "../../cluster/node-signals.ts";
import type { Pauses } from "../../cluster/pauses.ts";
import type { ClusterStats, MembershipDeps } from "../../cluster/postgres/membership.ts";
import type { PgStats, PgStatsSnapshot } from "../../db/postgres/pool-stats.ts";
import type { StateNode } from "../../db/state/state-node.ts";
import type { Common } from "../../runtime/common.ts";

/** The state as the main thread sees it. */
export interface MainState {
  readonly node: StateNode;
  readonly pauses: Pick<Pauses, "latest">;
  /** What all threads count of their calls to PostgreSQL; undefined with state.db. */
  readonly pgStats: PgStats | undefined;
  /** Undefined with state.db. */
  readonly postgres: PostgresState | undefined;
  /** Gives up what the node holds, and closes the state. */
  stop(): Promise<void>;
}

/** A state in PostgreSQL, by what is known without asking it. */
export interface PostgresState {
  readonly node: StateNode;
  /** The schema of this release. */
  readonly schemaVersion: number;
  /** Why and since when PostgreSQL does not answer; undefined while it does. */
  away(): { readonly reason: string; readonly sinceMs: number } | undefined;
  cluster(): ClusterStats;
  calls(): PgStatsSnapshot;
}

export interface MainStateDeps extends Pick<MembershipDeps, "report" | "onLost"> {
  readonly common: Pick<Common, "config" | "log" | "clock">;
  readonly nodeId: string;
  readonly signals: NodeSignals;
}
