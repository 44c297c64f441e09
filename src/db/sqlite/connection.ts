import type { Database, SQLQueryBindings, Statement as SqliteStatement } from "bun:sqlite";
import { isTransient } from "../../lib/failure.ts";
import type { Statement } from "./statement-registry.ts";
import { asStorageError, type DatabaseFile, type DatabaseName, StorageError } from "./storage-error.ts";

interface Command {
  readonly name: string;
  readonly sql: string;
}

const command = (sql: string): Command => ({ name: sql, sql });
const BEGIN = command("BEGIN");
const BEGIN_IMMEDIATE = command("BEGIN IMMEDIATE");
const COMMIT = command("COMMIT");
const ROLLBACK = command("ROLLBACK");
const DATA_VERSION = command("PRAGMA data_version");
/** Takes some pages and gives them back, in the one table that every database of the node has. */
const TAKE_PAGES = command("INSERT INTO __drizzle_migrations (hash) VALUES (zeroblob(65536))");
const GIVE_PAGES_BACK = command("DELETE FROM __drizzle_migrations WHERE created_at IS NULL");
const TOTAL_CHANGES = command("SELECT total_changes() AS changes");

/**
 * A connection to one of the node's databases. A statement is prepared on first use and kept for the life of the
 * connection. A fid above 2^53 - 1 never reaches it, so integers stay plain numbers.
 *
 * Every method throws a StorageError, which names the file, where the database itself is at fault.
 */
export abstract class SqliteConnection implements DatabaseFile, Disposable {
  /** Also keeps the connections of different databases apart for the type checker. */
  abstract readonly database: DatabaseName;
  readonly #sqlite: Database;
  readonly #statements = new Map<Command, SqliteStatement<unknown, SQLQueryBindings[]>>();
  #writeFault: StorageError | undefined;
  #needsRollback = false;
  /** Called with the name of each statement that runs; tests count with it. */
  onStatement: ((name: string) => void) | undefined;
  /**
   * Called before each statement, BEGIN, COMMIT and ROLLBACK included. A test throws the SQLiteError in it that the
   * statement shall fail with; the statement is then not run.
   */
  beforeStatement: ((name: string) => void) | undefined;

  constructor(sqlite: Database) {
    this.#sqlite = sqlite;
  }

  all<Row, Params extends readonly SQLQueryBindings[]>(s: Statement<Row, Params>, ...params: Params): Row[] {
    this.onStatement?.(s.name);
    try {
      return this.#prepared(s).all(...params) as Row[];
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
      return (this.#prepared(s).get(...params) as Row | null) ?? undefined;
    } catch (cause) {
      throw asStorageError(this, cause);
    }
  }

  /** Runs a statement that returns nothing; answers the number of rows that it changed. */
  run<Params extends readonly SQLQueryBindings[]>(s: Statement<unknown, Params>, ...params: Params): number {
    this.onStatement?.(s.name);
    try {
      const { changes } = this.#prepared(s).run(...params);
      if (changes > 0 && !this.#sqlite.inTransaction) this.#clearWriteFault();
      return changes;
    } catch (cause) {
      throw this.#failedWrite(cause);
    }
  }

  /** Runs `work` in one write transaction; rolls back when it throws. */
  transaction<T>(work: () => T): T {
    try {
      const changesBefore = this.#writeFault && this.#totalChanges();
      const result = this.#within(BEGIN_IMMEDIATE, work);
      // A commit of nothing writes nothing, and so shows nothing about the disk.
      if (this.#writeFault && this.#totalChanges() !== changesBefore) this.#clearWriteFault();
      return result;
    } catch (cause) {
      throw this.#failedWrite(cause);
    }
  }

  /** Runs `work` on one snapshot: no write that commits meanwhile shows in some of its statements only. */
  snapshot<T>(work: () => T): T {
    return this.#within(BEGIN, work);
  }

  /**
   * The fault of the last write that failed, until one succeeds. Damage of the file stays for the life of the connection:
   * a write to other pages succeeds and repairs nothing.
   */
  get writeFault(): StorageError | undefined {
    return this.#writeFault;
  }

  /**
   * Finds out whether a database can be written again whose last write failed: its file takes some pages, and gives them
   * back. Does nothing where no write failed. Never waits for another connection's lock.
   */
  retryWrite(): void {
    if (!this.#writeFault || this.#writeFault.isDamage) return;
    const { timeout = 0 } = this.#sqlite.query<{ timeout: number }, []>("PRAGMA busy_timeout").get() ?? {};
    this.#sqlite.exec("PRAGMA busy_timeout = 0");
    try {
      this.transaction(() => {
        this.#control(TAKE_PAGES);
        this.#control(GIVE_PAGES_BACK);
      });
    } catch (cause) {
      if (!(cause instanceof StorageError)) throw cause;
    } finally {
      this.#sqlite.exec(`PRAGMA busy_timeout = ${timeout}`);
    }
  }

  /** The path of the database file, as it was opened. */
  get file(): string {
    return this.#sqlite.filename;
  }

  /**
   * Writes the write-ahead log back into the database file and empties it. A disk that does not take that leaves the log
   * as it is, and nothing is lost: it is written back later.
   */
  checkpoint(): void {
    try {
      this.#sqlite.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch (cause) {
      const fault = asStorageError(this, cause);
      if (!(fault instanceof StorageError) || !isTransient(fault)) throw fault;
    }
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

  /** What is wrong with the pages of the file, in SQLite's words, some 20 lines at most; reads all of the file. */
  damage(): string[] {
    try {
      const lines = this.#sqlite.query<{ quick_check: string }, []>("PRAGMA quick_check(20)").all();
      return lines.flatMap(({ quick_check: line }) => (line === "ok" ? [] : line.split("\n")));
    } catch (cause) {
      const fault = asStorageError(this, cause);
      if (fault instanceof StorageError && fault.isDamage) return [fault.reason];
      throw fault;
    }
  }

  /** Changes with each commit of another connection to the same file, and only then or when a log begins anew. */
  dataVersion(): number {
    return (this.#prepared(DATA_VERSION).get() as { data_version: number }).data_version;
  }

  /** The connection itself, for migrations and for tools that look at the schema. */
  get sqlite(): Database {
    return this.#sqlite;
  }

  [Symbol.dispose](): void {
    for (const prepared of this.#statements.values()) prepared.finalize();
    this.#statements.clear();
    this.#sqlite.close();
  }

  #within<T>(begin: Command, work: () => T): T {
    // A transaction that a failing disk did not let roll back still holds its lock and its changes.
    if (this.#needsRollback) this.#rollBack();
    this.#control(begin);
    try {
      const result = work();
      this.#control(COMMIT);
      return result;
    } catch (cause) {
      try {
        this.#rollBack();
      } catch {
        // The first fault is the one to report; the next transaction tries to roll back again.
      }
      throw cause;
    }
  }

  #rollBack(): void {
    // A full disk may have rolled back already.
    this.#needsRollback = this.#sqlite.inTransaction;
    if (this.#needsRollback) this.#control(ROLLBACK);
    this.#needsRollback = false;
  }

  #control(command: Command): void {
    try {
      this.#prepared(command).run();
    } catch (cause) {
      throw asStorageError(this, cause);
    }
  }

  /** Notes a write that failed; returns what to throw. */
  #failedWrite(cause: unknown): unknown {
    const fault = asStorageError(this, cause);
    if (!(fault instanceof StorageError) || fault.file !== this.file) return fault;
    if (this.#writeFault?.isDamage) return fault;
    // A lock that keeps a write out says nothing about a disk that was full before.
    if (fault.fault !== "busy" || !this.#writeFault) this.#writeFault = fault;
    return fault;
  }

  #clearWriteFault(): void {
    if (!this.#writeFault?.isDamage) this.#writeFault = undefined;
  }

  #totalChanges(): number {
    return (this.#prepared(TOTAL_CHANGES).get() as { changes: number }).changes;
  }

  #prepared(command: Command): SqliteStatement<unknown, SQLQueryBindings[]> {
    this.beforeStatement?.(command.name);
    let prepared = this.#statements.get(command);
    if (!prepared) {
      prepared = this.#sqlite.prepare<unknown, SQLQueryBindings[]>(command.sql);
      this.#statements.set(command, prepared);
    }
    return prepared;
  }
}
