import { type AppStore, createApps } from "../../apps/app-store.ts";
import { migratePostgres } from "../../db/postgres/migrate.ts";
import { openPgPools, type PgSettings } from "../../db/postgres/pools.ts";
import { postgresStateDb } from "../../db/postgres/state-db.ts";
import { openState, statePath } from "../../db/state/database.ts";
import { readerStateDb } from "../../db/state/sqlite-state-db.ts";
import { createSteadyClock } from "../../db/state/state-clock.ts";
import { startSingleNode } from "../../db/state/state-node.ts";
import { openPostgresTokenImport } from "../../push/store/postgres/token-import.ts";
import { createPostgresTokens } from "../../push/store/postgres/token-store.ts";
import { openTokenImport } from "../../push/store/sqlite/token-import.ts";
import { tokenReads } from "../../push/store/sqlite/token-store.ts";
import type { TokenImport } from "../../push/store/token-import.ts";
import type { TokenStore } from "../../push/store/token-store.ts";
import type { Common } from "../../runtime/common.ts";

/** The tokens of a state, for a command that imports or exports them. */
export interface TokenState extends AsyncDisposable {
  readonly apps: Pick<AppStore, "find">;
  readonly tokens: Pick<TokenStore, "list">;
  openImport(options: { readonly dryRun: boolean }): TokenImport;
}

/** A command has no slot of its own. It shares the counters of one node, which waits for its commits now and then. */
const SLOT = { slot: 0 };
const CONNECTIONS = 2;

/** Opens the tokens of state.db. The caller holds the lock of the data directory. */
export function openSqliteTokens(dataDir: string): TokenState {
  const db = openState(statePath(dataDir), { mayCreate: false });
  return {
    apps: createApps(readerStateDb(db, () => Promise.reject(new Error("a command only reads apps")))),
    tokens: tokenReads(db),
    openImport: (options) => openTokenImport(db, options),
    [Symbol.asyncDispose]: async () => db[Symbol.dispose](),
  };
}

/** Opens the tokens of a state in PostgreSQL, beside running nodes. @throws UserError when its schema is older */
export async function openPostgresTokens(
  settings: PgSettings,
  { config, clock, log }: Pick<Common, "config" | "clock" | "log">,
): Promise<TokenState> {
  await migratePostgres(settings, { may: false });
  const pools = openPgPools({
    settings,
    applicationName: `${config.service.name}/tokens`,
    connections: { main: CONNECTIONS },
    log,
  });
  const stateClock = createSteadyClock({ clock });
  return {
    apps: createApps(
      postgresStateDb(
        { synced: pools.main, unsynced: pools.main },
        { clock: stateClock, node: startSingleNode() },
      ),
    ),
    tokens: createPostgresTokens(pools, stateClock, SLOT),
    openImport: (options) => openPostgresTokenImport(pools, SLOT, options),
    [Symbol.asyncDispose]: () => pools[Symbol.asyncDispose](),
  };
}
