import { Database, type SQLQueryBindings, type Statement as SqliteStatement } from "bun:sqlite";
import { join } from "node:path";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { indexMigrations } from "./migrations.macro.ts" with { type: "macro" };
import type { Statement } from "./statement.ts";

const migrations = indexMigrations();

/** The file of the index inside a data directory. */
export function indexPath(dataDir: string): string {
  return join(dataDir, "index.db");
}

/**
 * A connection to the index. A statement is prepared on first use and kept for the life of the connection.
 * A fid above 2^53 - 1 never reaches it, so integers stay plain numbers.
 */
export class IndexDatabase implements Disposable {
  readonly #sqlite: Database;
  readonly #prepared = new Map<object, SqliteStatement<unknown, SQLQueryBindings[]>>();
  /** Called with the name of each statement that runs; tests count with it. */
  onStatement: ((name: string) => void) | undefined;

  constructor(sqlite: Database) {
    this.#sqlite = sqlite;
  }

  all<Row, Params extends readonly SQLQueryBindings[]>(s: Statement<Row, Params>, ...params: Params): Row[] {
    return this.#prepare(s).all(...params) as Row[];
  }

  get<Row, Params extends readonly SQLQueryBindings[]>(
    s: Statement<Row, Params>,
    ...params: Params
  ): Row | undefined {
    return (this.#prepare(s).get(...params) as Row | null) ?? undefined;
  }

  /** Runs a statement that returns nothing; answers the number of rows that it changed. */
  run<Params extends readonly SQLQueryBindings[]>(s: Statement<unknown, Params>, ...params: Params): number {
    return this.#prepare(s).run(...params).changes;
  }

  /** Runs `work` in one write transaction; rolls back when it throws. */
  transaction<T>(work: () => T): T {
    return this.#within("BEGIN IMMEDIATE", work);
  }

  /** Runs `work` on one snapshot: no write that commits meanwhile shows in some of its statements only. */
  snapshot<T>(work: () => T): T {
    return this.#within("BEGIN", work);
  }

  /** Writes the write-ahead log back into the database file and empties it. */
  checkpoint(): void {
    this.#sqlite.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  /** Size of the database file, free pages included. */
  sizeBytes(): number {
    const { pages, pageBytes } = this.#sqlite
      .query<{ pages: number; pageBytes: number }, []>(
        "SELECT page_count AS pages, page_size AS pageBytes FROM pragma_page_count, pragma_page_size",
      )
      .get() ?? { pages: 0, pageBytes: 0 };
    return pages * pageBytes;
  }

  /** The connection itself, for migrations and for tools that look at the schema. */
  get sqlite(): Database {
    return this.#sqlite;
  }

  [Symbol.dispose](): void {
    for (const prepared of this.#prepared.values()) prepared.finalize();
    this.#prepared.clear();
    this.#sqlite.close();
  }

  #within<T>(begin: string, work: () => T): T {
    this.#sqlite.exec(begin);
    try {
      const result = work();
      this.#sqlite.exec("COMMIT");
      return result;
    } catch (cause) {
      // A full disk may have rolled back already; the first fault is the one to report.
      if (this.#sqlite.inTransaction) this.#sqlite.exec("ROLLBACK");
      throw cause;
    }
  }

  #prepare(
    s: Statement<unknown, readonly SQLQueryBindings[]> | object,
  ): SqliteStatement<unknown, SQLQueryBindings[]> {
    let prepared = this.#prepared.get(s);
    if (!prepared) {
      prepared = this.#sqlite.prepare<unknown, SQLQueryBindings[]>((s as { sql: string }).sql);
      this.#prepared.set(s, prepared);
    }
    this.onStatement?.((s as { name: string }).name);
    return prepared;
  }
}

/** Opens the index for its one writer, creates it when it is not there, and brings its schema up to date. */
export function openIndexWriter(path: string): IndexDatabase {
  const sqlite = new Database(path, { create: true, readwrite: true, strict: true });
  // First, so that every later statement waits for a reader's lock instead of failing.
  sqlite.exec("PRAGMA busy_timeout = 10000");
  // Readers never wait for the writer, nor the writer for them.
  sqlite.exec("PRAGMA journal_mode = WAL");
  // An accepted message is on the disk before its sender hears OK: the log is synced at every commit.
  sqlite.exec("PRAGMA synchronous = FULL");
  // Commits are groups of messages; a checkpoint every 16 MB of log keeps it off most of them.
  sqlite.exec("PRAGMA wal_autocheckpoint = 4000");
  // After a checkpoint the log file shrinks again, so that one burst does not hold the disk for good.
  sqlite.exec("PRAGMA journal_size_limit = 67108864");
  // 64 MB of pages: the upper levels of every b-tree and the recent leaves stay in memory.
  sqlite.exec("PRAGMA cache_size = -65536");
  sqlite.exec("PRAGMA temp_store = MEMORY");
  migrate(sqlite);
  return new IndexDatabase(sqlite);
}

/** Opens the index for reading. The writer has created it before. */
export function openIndexReader(path: string): IndexDatabase {
  const sqlite = new Database(path, { readonly: true, strict: true });
  sqlite.exec("PRAGMA busy_timeout = 10000");
  // A reader that could write would be a bug; SQLite itself says no.
  sqlite.exec("PRAGMA query_only = ON");
  sqlite.exec("PRAGMA cache_size = -32768");
  // Pages come from the page cache of the system without a copy.
  sqlite.exec("PRAGMA mmap_size = 1073741824");
  sqlite.exec("PRAGMA temp_store = MEMORY");
  return new IndexDatabase(sqlite);
}

/** Opens an empty index in memory with the schema of this version. */
export function openIndexInMemory(): IndexDatabase {
  const sqlite = new Database(":memory:", { strict: true });
  migrate(sqlite);
  return new IndexDatabase(sqlite);
}

interface MigratingSession {
  dialect: { migrate(migrations: unknown, session: unknown, config: { migrationsFolder: string }): void };
  session: unknown;
}

/** Runs the embedded migrations that this database has not seen. Drizzle's dialect call is not public API. */
function migrate(sqlite: Database): void {
  const orm = drizzle(sqlite) as unknown as MigratingSession;
  orm.dialect.migrate(migrations, orm.session, { migrationsFolder: "" });
}
