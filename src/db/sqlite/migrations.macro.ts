import { readMigrationFiles } from "drizzle-orm/migrator";

/** Reads the migrations of a database while the program is bundled, so that the binary needs no files beside it. */
export function embeddedMigrations(database: "index" | "state") {
  return readMigrationFiles({ migrationsFolder: `${import.meta.dir}/../../../drizzle/${database}` });
}
