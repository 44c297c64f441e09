import { type Database, SQLiteError } from "bun:sqlite";
import { openAsIs } from "../../db/sqlite/open.ts";
import { asStorageError, type DatabaseFile } from "../../db/sqlite/storage-error.ts";
import { createPrivateFile } from "../../runtime/files.ts";
import type { DatabaseTask, DatabaseTaskResult } from "./database-task.ts";

const CACHE_KIB = 65_536;

/** Runs a task in this process. */
export function runDatabaseTask(task: DatabaseTask): DatabaseTaskResult {
  const where = { database: task.database, file: task.file };
  if (task.name === "check") return { damage: damageOf(where) };
  copy(where, task.to);
  return { damage: damageOf({ ...where, file: task.to }) };
}

/** Writes the content of a database, as of one moment, into a new file. */
function copy(where: DatabaseFile, to: string): void {
  withConnection(where, (sqlite) => {
    // SQLite accepts an empty file and keeps its mode.
    createPrivateFile(to);
    try {
      sqlite.run("VACUUM INTO ?", [to]);
    } catch (cause) {
      throw faultOfCopy({ ...where, file: to }, cause);
    }
  });
}

/** Returns a fault of writing as one of the copy's file, because the database itself is only read; any other fault unchanged. */
export function faultOfCopy(copy: DatabaseFile, cause: unknown): unknown {
  const isOfCopy = cause instanceof SQLiteError && WRITE_FAULTS.test(cause.code ?? "");
  return isOfCopy ? asStorageError(copy, cause) : cause;
}

const WRITE_FAULTS = /^SQLITE_(?:FULL|IOERR_(?:WRITE|FSYNC|DIR_FSYNC|TRUNCATE))$/;

function damageOf(where: DatabaseFile): string[] {
  return withConnection(where, (sqlite) =>
    sqlite
      .query<{ quick_check: string }, []>("PRAGMA quick_check(20)")
      .all()
      .flatMap(({ quick_check: line }) => (line === "ok" ? [] : line.split("\n"))),
  );
}

function withConnection<T>(where: DatabaseFile, work: (sqlite: Database) => T): T {
  const sqlite = openAsIs(where, { readonly: true });
  try {
    sqlite.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
    return work(sqlite);
  } catch (cause) {
    throw asStorageError(where, cause);
  } finally {
    sqlite.close();
  }
}
