import type { Database, SQLQueryBindings, Statement as SqliteStatement } from "bun:sqlite";
import type { Statement } from "./statement-registry.ts";
import { asStorageError, type DatabaseFile, type DatabaseName, StorageError } from "./storage-error.ts";

/** A statement identified by its text. */
export interface Command {
  readonly name: string;
  readonly sql: string;
}

export const command = (sql: string): Command => ({ name: sql, sql });
const DATA_VERSION = command("PRAGMA data_version");
const PAGE_COUNT = command("PRAGMA page_count");
const FREE_PAGE_COUNT = command("PRAGMA freelist_count");
/** Excludes virtual tables, whose content is in other tables. */
const TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0";
/** A table with fewer rows is checked within milliseconds. */
const SMALL_TABLE_ROWS = 2_000;

/** A database up to this size is checked as a whole in a tenth to half a second. */
export const QUICKLY_CHECKED_BYTES = 128 * 1024 * 1024;

/**
 * Runs statements on a connection to one of the node's databases. A statement is prepared on first use and cached for the
 * life of the connection. Fids above 2^53 - 1 never reach it, so integers are plain numbers.
 *
 * Every method throws a StorageError, which names the file, when the database itself fails.
 */
export abstract class StatementConnection implements DatabaseFile {
  /** Also makes connections of different databases distinct types. */
  abstract readonly database: DatabaseName;
  readonly #sqlite: Database;
  readonly #statements = new Map<Command, SqliteStatement<unknown, SQLQueryBindings[]>>();
  /** Called with the name of each statement that runs. Tests use it to count statements. */
  onStatement: ((name: string) => void) | undefined;
  /**
   * Called before each statement, including BEGIN, COMMIT and ROLLBACK. If it throws, the statement does not run; tests
   * throw a SQLiteError here to make a statement fail.
   */
  beforeStatement: ((name: string) => void) | undefined;

  constructor(sqlite: Database) {
    this.#sqlite = sqlite;
  }

  all<Row, Params extends readonly SQLQueryBindings[]>(s: Statement<Row, Params>, ...params: Params): Row[] {
    this.onStatement?.(s.name);
    try {
      return this.prepared(s).all(...params) as Row[];
    } catch (cause) {
      throw asStorageError(this, cause);
    }
  }

  get<Row, Params extends readonly SQLQueryBindings[]>(
    s: Statement<Row, Params>,
    ...params: Params
  ): Row | undefined {
    this.onStatement?.(s.name);
    try {
      return (this.prepared(s).get(...params) as Row | null) ?? undefined;
    } catch (cause) {
      throw asStorageError(this, cause);
    }
  }

  /**
   * Yields the rows one after another, without keeping them all in memory. Other statements may run in between, but not the
   * same one.
   */
  *iterate<Row, Params extends readonly SQLQueryBindings[]>(
    s: Statement<Row, Params>,
    ...params: Params
  ): Generator<Row> {
    this.onStatement?.(s.name);
    try {
      yield* this.prepared(s).iterate(...params) as Iterable<Row>;
    } catch (cause) {
      throw asStorageError(this, cause);
    }
  }

  /** The path of the database file as it was opened. */
  get file(): string {
    return this.#sqlite.filename;
  }

  /** Returns the size of the database file, including free pages, in bytes. */
  sizeBytes(): number {
    const { pages, pageBytes } = this.#sqlite
      .query<{ pages: number; pageBytes: number }, []>(
        "SELECT page_count AS pages, page_size AS pageBytes FROM pragma_page_count, pragma_page_size",
      )
      .get() ?? { pages: 0, pageBytes: 0 };
    return pages * pageBytes;
  }

  /** Returns the number of pages of the database file, and how many of them are free. Reads only the first page. */
  pages(): { readonly all: number; readonly free: number } {
    try {
      const { page_count: all } = this.prepared(PAGE_COUNT).get() as { page_count: number };
      const { freelist_count: free } = this.prepared(FREE_PAGE_COUNT).get() as { freelist_count: number };
      return { all, free };
    } catch (cause) {
      throw asStorageError(this, cause);
    }
  }

  /**
   * Returns SQLite's description of damaged pages, at most about 20 lines. Reads the whole file.
   *
   * @param options.maxBytes in a larger file, only the tables with few rows are read.
   */
  damage({ maxBytes = Number.POSITIVE_INFINITY }: { readonly maxBytes?: number } = {}): string[] {
    try {
      if (this.sizeBytes() <= maxBytes) return this.#quickCheck("20");
      return this.#smallTables().flatMap((table) => this.#quickCheck(`"${table}"`));
    } catch (cause) {
      const fault = asStorageError(this, cause);
      if (fault instanceof StorageError && fault.isDamage) return [fault.reason];
      throw fault;
    }
  }

  /**
   * Returns a number that changes with each commit of another connection to the same file, and otherwise only when a new log
   * starts.
   */
  dataVersion(): number {
    return (this.prepared(DATA_VERSION).get() as { data_version: number }).data_version;
  }

  /** The underlying connection, for migrations and for tools that inspect the schema. */
  get sqlite(): Database {
    return this.#sqlite;
  }

  /** Runs a command without result rows. */
  control(command: Command): void {
    try {
      this.prepared(command).run();
    } catch (cause) {
      throw asStorageError(this, cause);
    }
  }

  /** Finalizes the statements. Call it before the connection closes. */
  finalizeStatements(): void {
    for (const prepared of this.#statements.values()) prepared.finalize();
    this.#statements.clear();
  }

  /** Returns the prepared statement of a command. */
  prepared(command: Command): SqliteStatement<unknown, SQLQueryBindings[]> {
    this.beforeStatement?.(command.name);
    let prepared = this.#statements.get(command);
    if (!prepared) {
      prepared = this.#sqlite.prepare<unknown, SQLQueryBindings[]>(command.sql);
      this.#statements.set(command, prepared);
    }
    return prepared;
  }

  /**
   * Runs SQLite's quick check.
   *
   * @param of a number of lines, or a table.
   */
  #quickCheck(of: string): string[] {
    return this.#sqlite
      .query<{ quick_check: string }, []>(`PRAGMA quick_check(${of})`)
      .all()
      .flatMap(({ quick_check: line }) => (line === "ok" ? [] : line.split("\n")));
  }

  #smallTables(): string[] {
    const names = this.#sqlite.query<{ name: string }, []>(TABLES).all();
    return names.flatMap(({ name }) => {
      const count = `SELECT count(*) AS rows FROM (SELECT 1 FROM "${name}" LIMIT ${SMALL_TABLE_ROWS})`;
      const { rows } = this.#sqlite.query<{ rows: number }, []>(count).get() ?? { rows: 0 };
      return rows < SMALL_TABLE_ROWS ? [name] : [];
    });
  }
}
