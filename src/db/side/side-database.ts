import { Database, type SQLQueryBindings, type Statement as SqliteStatement } from "bun:sqlite";
import { statSync } from "node:fs";
import { createPrivateFile, restrictToOwner } from "../../runtime/files.ts";
import { companionsOf } from "../sqlite/open.ts";
import type { Statement } from "../sqlite/statement-registry.ts";

/** Schema of a side file. */
export interface SideSchema {
  /** Its name without extension, such as `history`. */
  readonly name: string;
  /** SQL scripts, oldest first. The file records how many have run. A release never changes a script; it adds the next. */
  readonly steps: readonly string[];
}

/** Thrown for a file that a newer version of the program wrote. */
export class NewerSideFile extends Error {
  override name = "NewerSideFile";
}

/** Thrown for a stored value that this program has not written: SQLite detects damaged pages, but not wrong content. */
export class DamagedContent extends Error {
  override name = "DamagedContent";
}

/**
 * Decodes a stored value.
 *
 * @throws DamagedContent when `decode` throws.
 */
export function decodeStored<T>(decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    throw new DamagedContent("a stored value cannot be decoded", { cause });
  }
}

const BUSY_TIMEOUT_MS = 2_000;

/** An open connection to a side file. Its methods throw SQLite's errors. */
export class SideDatabase implements Disposable {
  readonly #sqlite: Database;
  readonly #path: string;
  readonly #inode: number | undefined;
  readonly #statements = new Map<unknown, SqliteStatement<unknown, SQLQueryBindings[]>>();

  /**
   * Opens the file for its only writer, and creates it or brings it up to date.
   *
   * @throws NewerSideFile when a newer version wrote it.
   */
  static openWriter(path: string, { steps }: SideSchema): SideDatabase {
    createPrivateFile(path);
    companionsOf(path).forEach(restrictToOwner);
    return prepared(path, new Database(path, { readwrite: true, strict: true }), (sqlite) => {
      // Takes effect in an empty file only. Pages freed by the sweeps are then returned to the disk.
      sqlite.exec("PRAGMA auto_vacuum = INCREMENTAL");
      sqlite.exec("PRAGMA journal_mode = WAL");
      // A power failure may lose the last commits, but never the file.
      sqlite.exec("PRAGMA synchronous = NORMAL");
      sqlite.exec("PRAGMA journal_size_limit = 4194304");
      sqlite.exec("PRAGMA cache_size = -2048");
      const done = versionOf(sqlite);
      if (done > steps.length) throw new NewerSideFile(`it has version ${done} of ${steps.length}`);
      if (done < steps.length)
        sqlite
          .transaction(() => {
            for (const step of steps.slice(done)) sqlite.exec(step);
            sqlite.exec(`PRAGMA user_version = ${steps.length}`);
          })
          .immediate();
    });
  }

  /**
   * Opens the file for reading. Its writer must have brought it up to date.
   *
   * @throws NewerSideFile when its version is not this program's, newer or older.
   */
  static openReader(path: string, { steps }: SideSchema): SideDatabase {
    return prepared(path, new Database(path, { readonly: true, strict: true }), (sqlite) => {
      sqlite.exec("PRAGMA query_only = ON");
      sqlite.exec("PRAGMA cache_size = -2048");
      const done = versionOf(sqlite);
      if (done !== steps.length) throw new NewerSideFile(`it has version ${done} of ${steps.length}`);
    });
  }

  constructor(path: string, sqlite: Database) {
    this.#path = path;
    this.#sqlite = sqlite;
    this.#inode = inodeOf(path);
  }

  /** Reports whether the path still names the file that is open. */
  isInPlace(): boolean {
    return this.#inode !== undefined && inodeOf(this.#path) === this.#inode;
  }

  all<Row, Params extends readonly SQLQueryBindings[]>(s: Statement<Row, Params>, ...params: Params): Row[] {
    return this.#prepared(s).all(...params) as Row[];
  }

  get<Row, Params extends readonly SQLQueryBindings[]>(
    s: Statement<Row, Params>,
    ...params: Params
  ): Row | undefined {
    return (this.#prepared(s).get(...params) as Row | null) ?? undefined;
  }

  /** Runs a statement without rows. Returns the number of changed rows. */
  run<Params extends readonly SQLQueryBindings[]>(s: Statement<unknown, Params>, ...params: Params): number {
    return this.#prepared(s).run(...params).changes;
  }

  transaction<T>(work: () => T): T {
    return this.#sqlite.transaction(work).immediate();
  }

  /** Returns the bytes of pages in use. */
  usedBytes(): number {
    const { pages, free, size } = this.#sqlite
      .query<{ pages: number; free: number; size: number }, []>(
        "SELECT page_count AS pages, freelist_count AS free, page_size AS size FROM pragma_page_count, pragma_freelist_count, pragma_page_size",
      )
      .get() ?? { pages: 0, free: 0, size: 0 };
    return (pages - free) * size;
  }

  /** Returns at most this many free pages to the disk. */
  shrink(maxPages: number): void {
    this.#sqlite.exec(`PRAGMA incremental_vacuum(${maxPages})`);
  }

  [Symbol.dispose](): void {
    for (const statement of this.#statements.values()) statement.finalize();
    this.#statements.clear();
    this.#sqlite.close();
  }

  #prepared(s: Statement<unknown, never>): SqliteStatement<unknown, SQLQueryBindings[]> {
    let found = this.#statements.get(s);
    if (!found) {
      found = this.#sqlite.prepare<unknown, SQLQueryBindings[]>(s.sql);
      this.#statements.set(s, found);
    }
    return found;
  }
}

function prepared(path: string, sqlite: Database, prepare: (sqlite: Database) => void): SideDatabase {
  try {
    sqlite.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    sqlite.exec("PRAGMA temp_store = MEMORY");
    prepare(sqlite);
    return new SideDatabase(path, sqlite);
  } catch (cause) {
    sqlite.close();
    throw cause;
  }
}

function versionOf(sqlite: Database): number {
  return (
    sqlite.query<{ version: number }, []>("SELECT user_version AS version FROM pragma_user_version").get()
      ?.version ?? 0
  );
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}
