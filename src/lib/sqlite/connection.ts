import type { Database, SQLQueryBindings, Statement as SqliteStatement } from "bun:sqlite";
import type { Statement } from "./statement-registry.ts";

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

/**
 * A connection to one of the node's databases. A statement is prepared on first use and kept for the life of the
 * connection. A fid above 2^53 - 1 never reaches it, so integers stay plain numbers.
 */
export abstract class SqliteConnection implements Disposable {
  readonly #sqlite: Database;
  readonly #statements = new Map<Command, SqliteStatement<unknown, SQLQueryBindings[]>>();
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
    return this.#within(BEGIN_IMMEDIATE, work);
  }

  /** Runs `work` on one snapshot: no write that commits meanwhile shows in some of its statements only. */
  snapshot<T>(work: () => T): T {
    return this.#within(BEGIN, work);
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
    this.#prepared(begin).run();
    try {
      const result = work();
      this.#prepared(COMMIT).run();
      return result;
    } catch (cause) {
      // A full disk may have rolled back already; the first fault is the one to report.
      if (this.#sqlite.inTransaction) this.#prepared(ROLLBACK).run();
      throw cause;
    }
  }

  /** Prepares a statement of the program, and tells whoever counts them. */
  #prepare(s: Command): SqliteStatement<unknown, SQLQueryBindings[]> {
    this.onStatement?.(s.name);
    return this.#prepared(s);
  }

  #prepared(command: Command): SqliteStatement<unknown, SQLQueryBindings[]> {
    let prepared = this.#statements.get(command);
    if (!prepared) {
      prepared = this.#sqlite.prepare<unknown, SQLQueryBindings[]>(command.sql);
      this.#statements.set(command, prepared);
    }
    return prepared;
  }
}
