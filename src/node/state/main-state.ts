import { createPauses, watchSwitches } from "../../cluster/pauses.ts";
import { createSwitches } from "../../cluster/sqlite/switch-store.ts";
import { openStateReader, statePath } from "../../db/state/database.ts";
import { startSingleNode } from "../../db/state/state-node.ts";
import { signerReads } from "../../signers/sqlite/signer-store.ts";
import { refuseMissingKeys } from "../signers/master-keys.ts";
import type { MainState, MainStateDeps } from "./main-thread-state.ts";
import { postgresSettings } from "./postgres-settings.ts";

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
