import { type AppStore, createApps } from "../../apps/app-store.ts";
import { migratePostgres } from "../../db/postgres/migrate.ts";
import { openPgPools, type PgSettings } from "../../db/postgres/pools.ts";
import { postgresTaskDb } from "../../db/postgres/state-db.ts";
import { openState, type StateDatabase, statePath } from "../../db/state/database.ts";
import { dryRunStateDb, taskStateDb } from "../../db/state/sqlite-state-db.ts";
import { openTokenImport, type TokenImport } from "../../push/store/tokens/token-import.ts";
import type { TokenStore } from "../../push/store/tokens/token-store.ts";
import { createTokens } from "../../push/store/tokens/token-table.ts";
import type { Common } from "../../runtime/common.ts";

/** The tokens of a state, for a command that imports or exports them. */
export interface TokenState extends AsyncDisposable {
  readonly apps: Pick<AppStore, "find">;
  readonly tokens: Pick<TokenStore, "list">;
  openImport(options: { readonly dryRun: boolean }): TokenImport;
}

const CONNECTIONS = 2;

/** Opens the tokens of state.db. The caller has locked the data directory. */
export function openSqliteTokens(dataDir: string): TokenState {
  const db = openState(statePath(dataDir), { mayCreate: false });
  const state = taskStateDb(db);
  return {
    apps: createApps(state),
    tokens: createTokens(state),
    openImport: (options) => openSqliteImport(db, options),
    [Symbol.asyncDispose]: async () => db[Symbol.dispose](),
  };
}

/** Opens an import into state.db. A dry run sees its own changes, so its outcomes are exactly those of an import. */
export function openSqliteImport(db: StateDatabase, { dryRun }: { readonly dryRun: boolean }): TokenImport {
  if (!dryRun) return openTokenImport(taskStateDb(db), { dryRun });
  const state = dryRunStateDb(db);
  return { ...openTokenImport(state, { dryRun: false }), [Symbol.dispose]: () => state[Symbol.dispose]() };
}

/**
 * Opens the tokens of a state in PostgreSQL while nodes run. A command has no slot: it shares the counters of one node, which
 * occasionally waits for its commits.
 *
 * @throws UserError if its schema is older
 */
export async function openPostgresTokens(
  settings: PgSettings,
  { config, log }: Pick<Common, "config" | "log">,
): Promise<TokenState> {
  await migratePostgres(settings, { may: false });
  const pools = openPgPools({
    settings,
    applicationName: `${config.service.name}/tokens`,
    connections: { main: CONNECTIONS },
    log,
  });
  const state = postgresTaskDb(pools.main);
  return {
    apps: createApps(state),
    tokens: createTokens(state),
    openImport: (options) => openTokenImport(state, options),
    [Symbol.asyncDispose]: () => pools[Symbol.asyncDispose](),
  };
}
