import type { NodeSignals } from "../../cluster/node-signals.ts";
import { createPauses, type Pauses, watchSwitches } from "../../cluster/pauses.ts";
import type { ClusterStats, MembershipDeps } from "../../cluster/postgres/membership.ts";
import { createSwitches } from "../../cluster/sqlite/switch-store.ts";
import type { PgStats, PgStatsSnapshot } from "../../db/postgres/pool-stats.ts";
import { openStateReader, statePath } from "../../db/state/database.ts";
import { type StateNode, startSingleNode } from "../../db/state/state-node.ts";
import type { Common } from "../../runtime/common.ts";
import { signerReads } from "../../signers/sqlite/signer-store.ts";
import { refuseMissingKeys } from "../signers/master-keys.ts";
import { postgresSettings } from "./postgres-settings.ts";

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

/**
 * Opens the state for the main thread, and joins the other nodes of a state in PostgreSQL. The database is there, with the
 * current schema. Rejects when the node may not join, like `joinCluster`.
 */
export async function openMainState(deps: MainStateDeps): Promise<MainState> {
  const settings = postgresSettings(deps.common.config);
  if (!settings) return openLocal(deps);
  // A dynamic import, for the reason that `openStateStores` names.
  const { joinPostgres } = await import("./join-postgres.ts");
  return joinPostgres(settings, deps);
}

async function openLocal({ common, nodeId, signals }: MainStateDeps): Promise<MainState> {
  const { config, log } = common;
  const pauses = createPauses({ signals, log });
  const reader = openStateReader(statePath(config.data.dir));
  refuseMissingKeys(config, await signerReads(reader).keyUses());
  const stopWatching = await watchSwitches({ switches: createSwitches(reader), pauses, log });
  return {
    node: startSingleNode(nodeId),
    pauses,
    pgStats: undefined,
    postgres: undefined,
    async stop() {
      stopWatching();
      reader[Symbol.dispose]();
    },
  };
}
