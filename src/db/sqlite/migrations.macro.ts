import { readMigrationFiles } from "drizzle-orm/migrator";

/** Reads the migrations of a database at build time, so that the binary needs no other files. */
export function embeddedMigrations(database: "index" | "state") {
  return readMigrationFiles({ migrationsFolder: `${import.meta.dir}/../../../drizzle/${database}` });
}
