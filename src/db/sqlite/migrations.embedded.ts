import { readMigrationFiles } from "drizzle-orm/migrator";

/** The migrations of each database. */
export const SQLITE_MIGRATIONS = { index: migrationsOf("index"), state: migrationsOf("state") } as const;

function migrationsOf(database: string) {
  return readMigrationFiles({ migrationsFolder: `${import.meta.dir}/../../../drizzle/${database}` });
}
