import { createPostgresSwitches } from "../../cluster/postgres/switch-store.ts";
import { createSwitches } from "../../cluster/sqlite/switch-store.ts";
import type { SwitchStore } from "../../cluster/switch-store.ts";
import { openStateReader, statePath } from "../../db/state/database.ts";
import { type OpenStateDeps, openPools } from "./open-state.ts";
import { postgresSettings } from "./postgres-settings.ts";

/** The state as the main thread sees it. */
export interface MainState extends AsyncDisposable {
  readonly switches: SwitchStore;
  /** Why PostgreSQL does not answer; undefined while it does, and always with state.db. */
  awayReason(): string | undefined;
}

/** Opens the state for the main thread. The database is there, with the current schema. */
export function openMainState(deps: Omit<OpenStateDeps, "part">): MainState {
  const settings = postgresSettings(deps.config);
  if (settings) {
    const pools = openPools(settings, { ...deps, part: "main" });
    return {
      switches: createPostgresSwitches(pools.main),
      awayReason: () => pools.away?.reason,
      [Symbol.asyncDispose]: () => pools[Symbol.asyncDispose](),
    };
  }
  const reader = openStateReader(statePath(deps.config.data.dir));
  return {
    switches: createSwitches(reader),
    awayReason: () => undefined,
    [Symbol.asyncDispose]: async () => reader[Symbol.dispose](),
  };
}
