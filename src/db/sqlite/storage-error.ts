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
  | "not_a_database"
  | UnnoticedFault["fault"]
  | "read_only"
  | "cannot_open"
  | "other";

/**
 * A fault that SQLite does not notice: its files were deleted or replaced, its log has lost commits, or another thread found
 * damage.
 */
export interface UnnoticedFault {
  readonly fault: "deleted" | "replaced" | "log_lost" | "corrupt";
  readonly message: string;
}

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
 * Thrown when a database cannot be read or written, independent of the data. The message names the file and what the
 * operator can do.
 */
export class StorageError extends Error {
  override name = "StorageError";
  readonly fault: StorageFault;
  /** SQLite's name of the error, such as `SQLITE_IOERR_WRITE`; empty for a fault that SQLite does not notice. */
  readonly code: string;
  readonly database: DatabaseName;
  readonly file: string;
  /** SQLite's message, without the file. */
  readonly reason: string;

  constructor(where: DatabaseFile, cause: SQLiteError | UnnoticedFault) {
    const isUnnoticed = "fault" in cause;
    const fault = isUnnoticed ? cause.fault : (FAULTS.get(cause.errno & 0xff) ?? "other");
    const code = isUnnoticed ? "" : (cause.code ?? "");
    const advice = adviceOn(fault, where);
    super(`${where.file}: ${cause.message}${code && ` (${code})`}${advice && `. ${advice}`}`, { cause });
    this.fault = fault;
    this.code = code;
    this.database = where.database;
    this.file = where.file;
    this.reason = cause.message;
  }

  /** Whether nothing more may be written to the database before a restart. */
  get isDamage(): boolean {
    return DAMAGE.has(this.fault);
  }
}

const DAMAGE: ReadonlySet<StorageFault> = new Set([
  "corrupt",
  "not_a_database",
  "deleted",
  "replaced",
  "log_lost",
]);

/** Returns advice for the operator, a sentence without its full stop; empty if there is none. */
function adviceOn(fault: StorageFault, where: DatabaseFile): string {
  const { file } = where;
  switch (fault) {
    case "busy":
      return "Another process holds the lock of the file: stop it, and try again";
    case "full":
      return `Free space on the disk of ${dirname(file)}, and try again`;
    case "io":
      return `Check the disk of ${dirname(file)}, and try again`;
    case "read_only":
    case "cannot_open":
      return `The user of the process must be able to read and write ${file} and ${dirname(file)}`;
    case "corrupt":
    case "not_a_database":
      return recoveryOf(where);
    case "deleted":
    case "replaced":
      return "Start the node again, and leave the files of a running node where they are";
    case "log_lost":
      return `Start the node again: it continues with what ${file} and its log still hold, and says so${where.database === "state" ? "" : ". A node that follows another gets the rest from there"}`;
    default:
      return "";
  }
}

/** Returns how to restore a lost or damaged database. */
export function recoveryOf({ database, file }: DatabaseFile): string {
  const companions = `${file}, ${file}-wal and ${file}-shm`;
  return database === "index"
    ? `The index can be rebuilt: move ${companions} away and start again. It is then filled again from upstream.url, or by importing the same files`
    : `The state (apps, webhooks, secrets, notification tokens, deliveries, nonces) cannot be rebuilt: move ${companions} away and restore ${file} from a backup`;
}

/** Damage that a statement or a writer has found in a database. */
export interface Damage extends DatabaseFile {
  /** As in `StorageError`. */
  readonly reason: string;
  /** What the operator can do. */
  readonly remedy: string;
}

let reportDamage = (_: Damage): void => {};

/**
 * Registers a callback for damage that any statement of this thread finds, called once per file. The thread's entry file
 * calls this once.
 */
export function onDamage(report: (damage: Damage) => void): void {
  const known = new Set<string>();
  reportDamage = (damage) => {
    if (known.size !== known.add(damage.file).size) report(damage);
  };
}

/** Returns the error to throw for `cause`: a StorageError if the database failed, otherwise `cause` itself. */
export function asStorageError(where: DatabaseFile, cause: unknown): unknown {
  if (cause instanceof StorageError) return cause;
  const fault = sqliteErrorOf(cause);
  if (!fault || CAUSED_BY_INPUT.has(fault.errno & 0xff)) return cause;
  return storageError(where, fault);
}

/** Returns the error for a fault, and reports damage. */
export function storageError(where: DatabaseFile, fault: SQLiteError | UnnoticedFault): StorageError {
  const error = new StorageError(where, fault);
  const { database, file } = where;
  if (error.isDamage)
    reportDamage({ database, file, reason: error.reason, remedy: adviceOn(error.fault, where) });
  return error;
}

/** Returns SQLite's own error, which drizzle wraps in migrations. */
function sqliteErrorOf(cause: unknown): SQLiteError | undefined {
  if (cause instanceof SQLiteError) return cause;
  return cause instanceof Error && cause.cause instanceof SQLiteError ? cause.cause : undefined;
}
