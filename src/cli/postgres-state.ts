import type { PgPool } from "../db/postgres/pool.ts";
import type { PgSettings } from "../db/postgres/pools.ts";
import type { Common } from "../runtime/common.ts";

/** Runs a command's `work` on the state in PostgreSQL, whether nodes run or not. The schema is not changed. */
export async function onPostgresState<T>(
  settings: PgSettings,
  { config, log }: Pick<Common, "config" | "log">,
  work: (pool: PgPool) => Promise<T>,
): Promise<T> {
  const { openPgPools } = await import("../db/postgres/pools.ts");
  const { migratePostgres } = await import("../db/postgres/migrate.ts");
  // Reports what is wrong with the connection in words, and refuses an older schema.
  await migratePostgres(settings, { may: false });
  await using pools = openPgPools({
    settings,
    applicationName: `${config.service.name}/command`,
    connections: { main: 1 },
    log,
  });
  return await work(pools.main);
}
