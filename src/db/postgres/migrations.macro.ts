import { readMigrationFiles } from "drizzle-orm/migrator";

const FOLDER = `${import.meta.dir}/../../../drizzle/postgres`;

/** Reads the migrations and functions of PostgreSQL at build time, so that the binary needs no other files. */
export function embeddedPgMigrations() {
  return readMigrationFiles({ migrationsFolder: FOLDER });
}

/** Returns the files of functions, by name. */
export async function embeddedPgFunctions(): Promise<{ name: string; sql: string }[]> {
  const names = [...new Bun.Glob("*.sql").scanSync(`${FOLDER}/functions`)].sort();
  return Promise.all(
    names.map(async (name) => ({ name, sql: await Bun.file(`${FOLDER}/functions/${name}`).text() })),
  );
}
