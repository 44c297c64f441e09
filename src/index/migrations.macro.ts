import { readMigrationFiles } from "drizzle-orm/migrator";

/** Reads the migrations of the index while the program is bundled, so that the binary needs no files beside it. */
export function indexMigrations() {
  return readMigrationFiles({ migrationsFolder: `${import.meta.dir}/../../drizzle/index` });
}
