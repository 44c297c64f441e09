import { Database, SQLiteError } from "bun:sqlite";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { BusyError, isTransient, reasonOf, UserError } from "../lib/failure.ts";
import { createPrivateFile, giveToOwnerOf } from "./files.ts";

/** A data directory that this process has locked. */
export type DataDir = ReturnType<typeof openDataDir>;

const LOCK_FILE = "lock";
const PID_FILE = "lock.pid";
/** Far longer than two processes that start together block each other. */
const LOCK_WAIT_MS = 500;

/**
 * The open locks. SQLite releases a lock when its connection is garbage-collected, so an unreferenced lock would disappear some time
 * after the start.
 */
const openLocks = new Set<Database>();

/**
 * Creates the directory (mode 0700) if it is missing, and locks it against other processes.
 *
 * @throws RetryableError if another process has locked the directory, or its disk is full or fails; UserError if it cannot be created or
 * written, or if a restore has not finished and `isRestore` is not set.
 */
export function openDataDir(dir: string, { isRestore = false }: { readonly isRestore?: boolean } = {}) {
  const path = resolve(dir);
  const release = lockDirectory(path, {
    what: "data directory",
    inUse: (holder) =>
      `data directory ${path} is in use by ${holder}; stop it, or name another one with --data-dir (SVC_DATA_DIR)`,
  });
  const restoring = join(path, RESTORING_FOLDER);
  if (existsSync(restoring) && !isRestore) {
    release();
    // A node that starts by itself would create empty databases, which would then be in the way of the restore.
    const orLeave = isRestoring(path) ? "" : `, or delete ${restoring} to leave the directory as it was`;
    throw new UserError(
      `data directory ${path}: restoring a snapshot was interrupted. Run the same command again, which completes it${orLeave}`,
    );
  }
  const file = (name: string) => join(path, name);
  const announce = (url: string) => writeFileSync(file(PID_FILE), `${process.pid}\n${url}\n`);
  return {
    /** Absolute. */
    path,
    /** The file whose lock excludes other processes. */
    lockFile: file(LOCK_FILE),
    /** Returns the path of a file in it. */
    file,
    /** Publishes to other processes on this machine where the node of this directory listens. */
    announce,
    /** Releases the lock. May be called twice. */
    release,
  };
}

/** A process that has locked a data directory. */
export interface LockHolder {
  readonly pid: number | undefined;
  /** Where it listens, if it is a node that has started. */
  readonly url: string | undefined;
}

/**
 * Returns the process that has locked a data directory, as far as that can be read; undefined if none has. Nothing is written, and a
 * directory that is missing or unreadable counts as free.
 */
export function lockHolder(dir: string): LockHolder | undefined {
  const path = resolve(dir);
  let database: Database | undefined;
  try {
    database = new Database(join(path, LOCK_FILE), { readonly: true });
    database.run("PRAGMA busy_timeout = 0");
    database.query("SELECT count(*) FROM sqlite_schema").get();
    return undefined;
  } catch (cause) {
    if (!(cause instanceof SQLiteError) || cause.code !== "SQLITE_BUSY") return undefined;
    return readHolder(join(path, PID_FILE));
  } finally {
    database?.close();
  }
}

/** The folder in which databases are restored before they are moved. */
export const RESTORING_FOLDER = "restoring";
/** A file in it whose presence means that the databases next to it are complete and only have to be moved. */
export const RESTORED_MARK = "complete";

/** Reports whether a restore was interrupted while it moved the databases. */
export function isRestoring(dataDir: string): boolean {
  return existsSync(join(dataDir, RESTORING_FOLDER, RESTORED_MARK));
}

/** The files in a locked directory that belong to its lock. */
export const LOCK_FILES = [LOCK_FILE, `${LOCK_FILE}-journal`, PID_FILE] as const;

/**
 * Creates a directory (mode 0700) if it is missing, and locks it against other processes. Returns a function that releases the lock,
 * which may be called twice.
 *
 * The lock is an exclusive transaction on an empty SQLite database. The operating system releases it with the process, so nothing needs a
 * cleanup after kill -9.
 *
 * @throws RetryableError if another process has locked the directory, or its disk is full or fails; UserError if it cannot be created or
 * written.
 */
export function lockDirectory(
  path: string,
  { what, inUse }: { readonly what: string; readonly inUse: (holder: string) => string },
): () => void {
  const pidFile = join(path, PID_FILE);
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "EEXIST")
      throw new UserError(`${what} ${path} is not a directory`, { cause });
    throw faultOf(`${what} ${path} cannot be created`, cause);
  }
  const database = lock(path, what, () => inUse(describeHolder(pidFile)));
  openLocks.add(database);
  try {
    // Only for error messages of other processes; the lock itself does not need the pid. A file that a killed command of another user
    // left behind cannot be overwritten, but it can be removed.
    rmSync(pidFile, { force: true });
    createPrivateFile(pidFile);
    writeFileSync(pidFile, `${process.pid}\n`);
  } catch (cause) {
    closeLock(database);
    throw faultOf(`${what} ${path} cannot be written to`, cause);
  }
  const opened = identityOf(path);
  return () => {
    if (!openLocks.has(database)) return;
    // The pid file is deleted first, because after the release it belongs to the next process. The check is needed in case the directory
    // at this path was replaced.
    if (identityOf(path) === opened) rmSync(pidFile, { force: true });
    closeLock(database);
  };
}

/** Returns the device and inode at a path; empty if there is nothing. */
function identityOf(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found ? `${found.dev} ${found.ino}` : "";
}

function lock(path: string, what: string, inUse: () => string): Database {
  const file = join(path, LOCK_FILE);
  let database: Database | undefined;
  try {
    createPrivateFile(file);
    leaveToOwner(path, file);
    database = new Database(file, { readwrite: true });
    database.run(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`);
    // In WAL mode an exclusive transaction would not exclude readers.
    database.run("PRAGMA journal_mode = DELETE");
    database.run("BEGIN EXCLUSIVE");
    return database;
  } catch (cause) {
    database?.close();
    if (cause instanceof SQLiteError && cause.code === "SQLITE_BUSY") {
      throw new BusyError(inUse(), { cause });
    }
    throw faultOf(`${what} ${path} cannot be locked by its file ${LOCK_FILE}`, cause);
  }
}

/** Root's lock must not lock out the directory's user. */
function leaveToOwner(path: string, file: string): void {
  try {
    giveToOwnerOf(path, file);
  } catch {
    // Root may lack the capability, for example in a container without other users.
  }
}

function faultOf(what: string, cause: unknown): Error {
  const text = `${what}: ${reasonOf(cause)}`;
  return isTransient(cause) ? new BusyError(text, { cause }) : new UserError(text, { cause });
}

function closeLock(database: Database): void {
  openLocks.delete(database);
  database.close();
}

/** Describes the process with the lock. */
function describeHolder(pidFile: string): string {
  const { pid } = readHolder(pidFile);
  return pid === undefined ? "another process" : `process ${pid}`;
}

/** Reads the lock holder. For an instant a process has the lock but has not written its pid. */
function readHolder(pidFile: string): LockHolder {
  try {
    const [, pid, url] = /^(\d+)\n(?:(http\S+)\n)?/.exec(readFileSync(pidFile, "utf8")) ?? [];
    return { pid: pid === undefined ? undefined : Number(pid), url };
  } catch {
    return { pid: undefined, url: undefined };
  }
}
