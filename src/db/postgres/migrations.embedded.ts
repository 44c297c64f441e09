import { readdirSync, readFileSync } from "node:fs";
import { readMigrationFiles } from "drizzle-orm/migrator";

const FOLDER = `${import.meta.dir}/../../../drizzle/postgres`;

export const PG_MIGRATIONS = readMigrationFiles({ migrationsFolder: FOLDER });

/** The files of functions, by name. */
export const PG_FUNCTIONS = readdirSync(`${FOLDER}/functions`)
  .sort()
  .map((name) => ({ name, sql: readFileSync(`${FOLDER}/functions/${name}`, "utf8") }));
