import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { UserError } from "../../../lib/failure.ts";
import { openAsIs } from "../../sqlite/open.ts";
import { appliedMigrations } from "../../sqlite/schema-version.ts";
import { asStorageError, type DatabaseFile } from "../../sqlite/storage-error.ts";
import { isOlderFormat } from "../database.ts";

/** Reads an index of an older format. All formats have the tables `meta` and `positions`. */
export interface IndexFormat {
  /** The creation time of its first migration, by which a file is recognised. */
  readonly firstMigration: number;
  /** Returns the number of live messages, as the index counts them. */
  messageCount(sqlite: Database): number;
  /** Returns the number of live messages by store, counted from the messages. */
  storeCounts(sqlite: Database): Map<number, number>;
  /** Returns the next messages after the row `id` in their signed form, in the order of their rows. */
  messagesAfter(sqlite: Database, id: number, limit: number): OlderMessage[];
  /** Tables that are built from messages and have the same number of rows in both formats unless they were wrong. */
  readonly comparedTables: readonly string[];
}

interface OlderMessage {
  readonly id: number;
  readonly bytes: Uint8Array;
}

/** The older formats that this program can migrate: none, since no release had one. */
export const OLDER_FORMATS: IndexFormat[] = [];

/** Reports whether a file is an index of an older format. */
export function isOlderIndex(file: string): boolean {
  if (!statSync(file, { throwIfNoEntry: false })?.size) return false;
  const where = { database: "index", file } as const;
  const sqlite = openAsIs(where, { readonly: true });
  try {
    return isOlderFormat(appliedMigrations(sqlite));
  } catch (cause) {
    throw asStorageError(where, cause);
  } finally {
    sqlite.close();
  }
}

/** An index of an older format. A table that its file lacks counts as empty. */
export class OlderIndex implements Disposable, DatabaseFile {
  readonly database = "index";
  readonly file: string;
  readonly #sqlite: Database;
  readonly #format: IndexFormat;

  private constructor(file: string, sqlite: Database, format: IndexFormat) {
    this.file = file;
    this.#sqlite = sqlite;
    this.#format = format;
  }

  /**
   * Opens the file if it is an index of an older format. Writes its write-ahead log back, so that the file is complete by
   * itself. No other process may have it open.
   *
   * @throws UserError when the operator must fix the file, or its format is not known; StorageError when SQLite cannot use
   * it.
   */
  static open(file: string): OlderIndex | undefined {
    if (!isOlderIndex(file)) return undefined;
    const sqlite = openAsIs({ database: "index", file }, { readonly: false });
    const [first] = appliedMigrations(sqlite);
    const format = OLDER_FORMATS.find(({ firstMigration }) => firstMigration === first);
    if (!format) {
      sqlite.close();
      throw new UserError(
        `${file}: this version cannot read the format of the index. Move the file away, and the node fills a new one.`,
      );
    }
    const older = new OlderIndex(file, sqlite, format);
    older.#try(() => sqlite.exec("PRAGMA wal_checkpoint(TRUNCATE)"));
    return older;
  }

  get messages(): number {
    return this.#try(() => this.#format.messageCount(this.#sqlite));
  }

  get comparedTables(): readonly string[] {
    return this.#format.comparedTables;
  }

  get isDemo(): boolean {
    return this.#try(() => this.#sqlite.query("SELECT 1 FROM meta WHERE key = 'demo'").get() !== null);
  }

  get sizeBytes(): number {
    return statSync(this.file).size;
  }

  /** Identifies the content of the file. It changes when a program writes to the file. */
  get fingerprint(): string {
    const { size, mtimeMs, ino } = statSync(this.file);
    return `${ino} ${size} ${mtimeMs}`;
  }

  /** Returns the columns of a table; empty if there is no such table. */
  columnsOf(table: string): string[] {
    const columns = this.#sqlite.query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)");
    return this.#try(() => columns.all(table).map(({ name }) => name));
  }

  rowsIn(table: string): number {
    if (this.columnsOf(table).length === 0) return 0;
    const counted = this.#sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`);
    return this.#try(() => counted.get()?.n ?? 0);
  }

  storeCounts(): Map<number, number> {
    return this.#try(() => this.#format.storeCounts(this.#sqlite));
  }

  messagesAfter(id: number, limit: number): OlderMessage[] {
    return this.#try(() => this.#format.messagesAfter(this.#sqlite, id, limit));
  }

  [Symbol.dispose](): void {
    this.#sqlite.close();
  }

  #try<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      throw asStorageError(this, cause);
    }
  }
}
