import type { Database, SQLQueryBindings } from "bun:sqlite";
import { statSync } from "node:fs";
import { openAsIs } from "../../sqlite/open.ts";
import { appliedMigrations, FORMER_INDEX_MIGRATION } from "../../sqlite/schema-version.ts";
import { asStorageError, type DatabaseFile } from "../../sqlite/storage-error.ts";

/** A row of `messages` in the former format: a signed message in wire form. */
export interface FormerMessage {
  readonly id: number;
  readonly bytes: Uint8Array;
}

/** Whether a file is an index in the former format. */
export function isFormerIndex(file: string): boolean {
  if (!statSync(file, { throwIfNoEntry: false })?.size) return false;
  const where = { database: "index", file } as const;
  const sqlite = openAsIs(where, { readonly: true });
  try {
    return appliedMigrations(sqlite).includes(FORMER_INDEX_MIGRATION);
  } catch (cause) {
    throw asStorageError(where, cause);
  } finally {
    sqlite.close();
  }
}

/**
 * An index in the format before cast ids and columns: its table `messages` holds the signed messages in wire form. Files of
 * all versions of that format can be read; a table that a file lacks counts as empty.
 */
export class FormerIndex implements Disposable, DatabaseFile {
  readonly database = "index";
  readonly file: string;
  readonly #sqlite: Database;

  private constructor(file: string, sqlite: Database) {
    this.file = file;
    this.#sqlite = sqlite;
  }

  /**
   * Opens the file if it is an index in the former format. Its write-ahead log is written back into it, so that the file is
   * complete by itself. No other process may have it open.
   *
   * @throws UserError when the operator must fix the file; StorageError when SQLite cannot use it.
   */
  static open(file: string): FormerIndex | undefined {
    if (!isFormerIndex(file)) return undefined;
    const where = { database: "index", file } as const;
    const former = new FormerIndex(file, openAsIs(where, { readonly: false }));
    former.#try((sqlite) => sqlite.exec("PRAGMA wal_checkpoint(TRUNCATE)"));
    return former;
  }

  /** The number of live messages, as the index counts them. */
  get messages(): number {
    return this.#one<{ n: number }>("SELECT count AS n FROM totals WHERE name = 'messages'")?.n ?? 0;
  }

  get isDemo(): boolean {
    return this.#one("SELECT 1 FROM meta WHERE key = 'demo'") !== undefined;
  }

  get sizeBytes(): number {
    return statSync(this.file).size;
  }

  /** Identifies the content of the file: it changes when a program has written to it. */
  get fingerprint(): string {
    const { size, mtimeMs, ino } = statSync(this.file);
    return `${ino} ${size} ${mtimeMs}`;
  }

  /** The columns of a table; empty if there is no such table. */
  columnsOf(table: string): string[] {
    return this.#all<{ name: string }>("SELECT name FROM pragma_table_info(?)", table).map(
      ({ name }) => name,
    );
  }

  rowsIn(table: string): number {
    if (this.columnsOf(table).length === 0) return 0;
    return this.#one<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)?.n ?? 0;
  }

  /** The numbers of live messages by store. */
  storeCounts(): Map<number, number> {
    const rows = this.#all<{ store: number; n: number }>(
      "SELECT store, count(*) AS n FROM messages GROUP BY store",
    );
    return new Map(rows.map(({ store, n }) => [store, n]));
  }

  /** Returns the next messages after the row `id`, in the order in which they were written. */
  messagesAfter(id: number, limit: number): FormerMessage[] {
    return this.#all("SELECT id, bytes FROM messages WHERE id > ? ORDER BY id LIMIT ?", id, limit);
  }

  [Symbol.dispose](): void {
    this.#sqlite.close();
  }

  #all<Row>(sql: string, ...params: SQLQueryBindings[]): Row[] {
    return this.#try((sqlite) => sqlite.query<Row, SQLQueryBindings[]>(sql).all(...params));
  }

  #one<Row>(sql: string): Row | undefined {
    return this.#try((sqlite) => sqlite.query<Row, []>(sql).get()) ?? undefined;
  }

  #try<T>(work: (sqlite: Database) => T): T {
    try {
      return work(this.#sqlite);
    } catch (cause) {
      throw asStorageError(this, cause);
    }
  }
}
