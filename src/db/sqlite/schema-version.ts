import type { Database } from "bun:sqlite";
import type { MigrationMeta } from "drizzle-orm/migrator";
import { UserError } from "../../lib/failure.ts";
import type { DatabaseFile } from "./storage-error.ts";

/** The embedded migrations of one database, oldest first. */
export type Migrations = readonly MigrationMeta[];

/** The schema that drizzle-kit uses, so that its tools can read the database. */
const MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS "__drizzle_migrations" (
  id SERIAL PRIMARY KEY,
  hash text NOT NULL,
  created_at numeric
)`;

/**
 * Runs the embedded migrations that have not been applied yet, all or none. Drizzle's own migrator is not used: on a full
 * disk it reports "cannot rollback", because SQLite has already rolled back by itself.
 */
export function migrate(sqlite: Database, migrations: Migrations): void {
  const applied = appliedMigrations(sqlite);
  const missing = migrations.filter(({ folderMillis }) => !applied.includes(folderMillis));
  if (missing.length === 0) return;
  const run = sqlite.transaction(() => {
    sqlite.run(MIGRATIONS_TABLE);
    for (const { sql, hash, folderMillis } of missing) {
      for (const statement of sql) sqlite.run(statement);
      sqlite.run('INSERT INTO "__drizzle_migrations" (hash, created_at) VALUES (?, ?)', [hash, folderMillis]);
    }
  });
  run.immediate();
}

/** Returns the creation times of the applied migrations in Unix milliseconds, oldest first. */
export function appliedMigrations(sqlite: Database): number[] {
  const table = sqlite.query(
    "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '__drizzle_migrations'",
  );
  if (table.get() === null) return [];
  return sqlite
    .query<{ at: number }, []>("SELECT created_at AS at FROM __drizzle_migrations ORDER BY created_at")
    .all()
    .map(({ at }) => at);
}

/** How the schema of a database relates to that of this program. An index in an older format must be rebuilt. */
export type SchemaVersion = "empty" | "older format" | "older" | "current" | "newer";

/** Compares the applied migrations of a database with those of this program. */
export function compareVersion(
  { database }: Pick<DatabaseFile, "database">,
  applied: readonly number[],
  known: Migrations,
): SchemaVersion {
  if (applied.length === 0) return "empty";
  if (database === "index" && beginsEarlier(applied, known)) return "older format";
  const ours = known.map(({ folderMillis }) => folderMillis);
  if (!applied.every((at) => ours.includes(at))) return "newer";
  return ours.every((at) => applied.includes(at)) ? "current" : "older";
}

/** Reports whether the first migration of a database is older than that of this program, which then cannot read its rows. */
export function beginsEarlier([first]: readonly number[], [ours]: Migrations): boolean {
  return first !== undefined && ours !== undefined && first < ours.folderMillis;
}

/**
 * Rejects an index of an older format.
 *
 * @throws UserError with the command that migrates it.
 */
export function refuseOlderFormat(
  { database, file }: DatabaseFile,
  applied: readonly number[],
  known: Migrations,
): void {
  if (database !== "index" || !beginsEarlier(applied, known)) return;
  throw new UserError(
    `${file}: the index has the format of an earlier version. Stop the node and run \`svc migrate\`, which builds a new file from it.`,
  );
}

/**
 * Rejects a database that a newer version of the program has migrated: this version would misread it, and write rows that
 * the newer one does not expect.
 *
 * @throws UserError with the file, its version and this program's.
 */
export function refuseNewer(
  { database, file }: DatabaseFile,
  applied: readonly number[],
  known: Migrations,
): void {
  const ours = known.map(({ folderMillis }) => folderMillis);
  if (applied.every((at) => ours.includes(at))) return;
  throw new UserError(
    `${file}: the ${database} was written by a newer version of this program. Its schema is ${versionOf(applied)}; this program knows ${versionOf(ours)}. Run the newer version, or restore what was there before the upgrade.`,
  );
}

/**
 * Rejects a database that lacks the latest migrations, for reading.
 *
 * @throws UserError with the file, its version and this program's.
 */
export function refuseOlder(
  { database, file }: DatabaseFile,
  applied: readonly number[],
  known: Migrations,
): void {
  const ours = known.map(({ folderMillis }) => folderMillis);
  if (ours.every((at) => applied.includes(at))) return;
  throw new UserError(
    `${file}: the ${database} is of an older version of this program. Its schema is ${versionOf(applied)}; this program needs ${versionOf(ours)}. Run the migrate command first, or start the node.`,
  );
}

function versionOf(migrations: readonly number[]): string {
  const last = migrations.at(-1);
  return last === undefined
    ? "empty"
    : `version ${migrations.length} of ${new Date(last).toISOString().slice(0, 10)}`;
}
