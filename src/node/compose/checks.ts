import { type Checks, createChecks } from "../../checks/checks.ts";
import type { Common } from "../../runtime/common.ts";
import { openStateStores } from "../state/open-state.ts";
import type { MainState, StateLink } from "../state/thread-state.ts";

/** Opens the checks of a node, on the main thread, with the store of their incidents. */
export async function openChecks({
  common,
  nodeId,
  state,
  connectState,
}: {
  readonly common: Common;
  readonly nodeId: string;
  readonly state: Pick<MainState, "incidents">;
  readonly connectState: () => StateLink;
}): Promise<Checks> {
  const { config, clock, shutdown } = common;
  const log = common.log.child({ subsystem: "checks" });
  const deps = { settings: config.checks, nodeId, clock, log };
  if (state.incidents) {
    const { store, lease } = state.incidents;
    return createChecks({ ...deps, incidents: store, lease });
  }
  const opened = await openStateStores({ config, part: "main", link: connectState(), log });
  shutdown.add("checks", async () => opened[Symbol.asyncDispose]());
  return createChecks({ ...deps, incidents: opened.stores.incidents, lease: undefined });
}
