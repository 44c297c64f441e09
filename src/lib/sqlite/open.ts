import { Database } from "bun:sqlite";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { MigrationMeta } from "drizzle-orm/migrator";

/** The migrations of one database, oldest first, as they are embedded in the program. */
export type Migrations = readonly MigrationMeta[];

export interface WriterOptions {
  readonly migrations: Migrations;
  /** Pages that stay in memory. */
  readonly cacheKib: number;
  /** Pages of write-ahead log after which a commit writes it back into the database. */
  readonly checkpointPages: number;
}

/** Opens a database for writing, creates it when it is not there, and brings its schema up to date. */
export function openWriter(path: string, options: WriterOptions): Database {
  const sqlite = new Database(path, { create: true, readwrite: true, strict: true });
  // First, so that every later statement waits for another's lock instead of failing.
  sqlite.exec("PRAGMA busy_timeout = 10000");
  // Readers never wait for the writer, nor the writer for them.
  sqlite.exec("PRAGMA journal_mode = WAL");
  // What was accepted is on the disk before its sender hears OK: the log is synced at every commit.
  sqlite.exec("PRAGMA synchronous = FULL");
  sqlite.exec(`PRAGMA wal_autocheckpoint = ${options.checkpointPages}`);
  // After a checkpoint the log file shrinks again, so that one burst does not hold the disk for good.
  sqlite.exec("PRAGMA journal_size_limit = 67108864");
  sqlite.exec(`PRAGMA cache_size = -${options.cacheKib}`);
  sqlite.exec("PRAGMA temp_store = MEMORY");
  migrate(sqlite, options.migrations);
  return sqlite;
}

/** Opens an empty database in memory with the schema of this version. */
export function openInMemory(migrations: Migrations): Database {
  const sqlite = new Database(":memory:", { strict: true });
  migrate(sqlite, migrations);
  return sqlite;
}

interface MigratingSession {
  dialect: { migrate(migrations: unknown, session: unknown, config: { migrationsFolder: string }): void };
  session: unknown;
}

/** Runs the embedded migrations that this database has not seen. Drizzle's dialect call is not public API. */
function migrate(sqlite: Database, migrations: Migrations): void {
  const orm = drizzle(sqlite) as unknown as MigratingSession;
  orm.dialect.migrate(migrations, orm.session, { migrationsFolder: "" });
}
