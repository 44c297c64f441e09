import { SQLiteError } from "bun:sqlite";
import { dirname } from "node:path";

/** The databases of a node. */
export type DatabaseName = "index" | "state";

/** A database and the path of its file. */
export interface DatabaseFile {
  readonly database: DatabaseName;
  readonly file: string;
}

/** Why a database operation failed. */
export type StorageFault =
  | "busy"
  | "full"
  | "io"
  | "memory"
  | "corrupt"
  | "not_a_database"
  | "read_only"
  | "cannot_open"
  | "other";

/** By SQLite's primary result code. */
const FAULTS: ReadonlyMap<number, StorageFault> = new Map([
  [3, "cannot_open"], // SQLITE_PERM
  [5, "busy"],
  [6, "busy"], // SQLITE_LOCKED
  [7, "memory"],
  [8, "read_only"],
  [10, "io"],
  [11, "corrupt"],
  [13, "full"],
  [14, "cannot_open"],
  [15, "busy"], // SQLITE_PROTOCOL: lost too many races for a lock
  [22, "io"], // SQLITE_NOLFS: the file grew beyond what the system allows
  [23, "cannot_open"], // SQLITE_AUTH
  [26, "not_a_database"],
]);

/** Errors that a row or a parameter causes: TOOBIG, CONSTRAINT, MISMATCH, RANGE. */
const CAUSED_BY_INPUT: ReadonlySet<number> = new Set([18, 19, 20, 25]);

/**
 * A database that could not be read or written, independent of the data. The message names the file and what the operator
 * can do.
 */
export class StorageError extends Error {
  override name = "StorageError";
  readonly fault: StorageFault;
  /** SQLite's name of the error, such as `SQLITE_IOERR_WRITE`. */
  readonly code: string;
  readonly database: DatabaseName;
  readonly file: string;
  /** SQLite's message, without the file. */
  readonly reason: string;

  constructor(where: DatabaseFile, cause: SQLiteError) {
    const fault = FAULTS.get(cause.errno & 0xff) ?? "other";
    super(`${where.file}: ${cause.message} (${cause.code})${adviceOn(fault, where)}`, { cause });
    this.fault = fault;
    this.code = cause.code ?? "";
    this.database = where.database;
    this.file = where.file;
    this.reason = cause.message;
  }

  /** Whether the file is damaged. */
  get isDamage(): boolean {
    return this.fault === "corrupt" || this.fault === "not_a_database";
  }
}

/** A sentence with advice for the operator, to append to a message; empty when there is none. */
function adviceOn(fault: StorageFault, where: DatabaseFile): string {
  const { file } = where;
  switch (fault) {
    case "busy":
      return ". Another process holds the lock of the file: stop it, and try again";
    case "full":
      return `. Free space on the disk of ${dirname(file)}, and try again`;
    case "io":
      return `. Check the disk of ${dirname(file)}, and try again`;
    case "read_only":
    case "cannot_open":
      return `. The user of the process must be able to read and write ${file} and ${dirname(file)}`;
    case "corrupt":
    case "not_a_database":
      return `. ${recoveryOf(where)}`;
    default:
      return "";
  }
}

/** How to restore a lost or damaged database. */
export function recoveryOf({ database, file }: DatabaseFile): string {
  const companions = `${file}, ${file}-wal and ${file}-shm`;
  return database === "index"
    ? `The index can be rebuilt: move ${companions} away and start again. It is then filled again from upstream.url, or by importing the same files`
    : `The state (apps, webhooks, secrets, notification tokens, deliveries, nonces) cannot be rebuilt: move ${companions} away and restore ${file} from a backup`;
}

/** Damage that SQLite has found in a database. */
export interface Damage extends DatabaseFile {
  /** SQLite's message. */
  readonly reason: string;
}

let reportDamage = (_: Damage): void => {};

/** Has damage reported that any statement of this thread finds, once for each file. Its entry sets that once. */
export function onDamage(report: (damage: Damage) => void): void {
  const known = new Set<string>();
  reportDamage = (damage) => {
    if (known.size !== known.add(damage.file).size) report(damage);
  };
}

/** Returns the error to throw for `cause`: a StorageError if the database failed, else `cause` itself. */
export function asStorageError(where: DatabaseFile, cause: unknown): unknown {
  const fault = sqliteErrorOf(cause);
  if (!fault || CAUSED_BY_INPUT.has(fault.errno & 0xff)) return cause;
  const error = new StorageError(where, fault);
  if (error.isDamage) reportDamage({ database: where.database, file: where.file, reason: error.reason });
  return error;
}

/** SQLite's own error, which drizzle wraps in migrations. */
function sqliteErrorOf(cause: unknown): SQLiteError | undefined {
  if (cause instanceof SQLiteError) return cause;
  return cause instanceof Error && cause.cause instanceof SQLiteError ? cause.cause : undefined;
}
