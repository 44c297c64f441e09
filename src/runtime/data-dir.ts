import { Database, SQLiteError } from "bun:sqlite";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isTransient, RetryableError, reasonOf, UserError } from "../lib/failure.ts";
import { makePrivateFile } from "../lib/private-file.ts";

/** The data directory while this process holds it. */
export interface DataDir {
  /** Absolute. */
  readonly path: string;
  /** What keeps other processes out. */
  readonly lockFile: string;
  /** The path of a file in it. */
  file(name: string): string;
  /** Lets another process in. May be called twice. */
  release(): void;
}

const LOCK_FILE = "lock";
const PID_FILE = "lock.pid";
/** Two processes that start together stand in each other's way for a moment; this is far longer than the moment. */
const LOCK_WAIT_MS = 500;

/**
 * The held locks. SQLite gives up a lock when its connection is garbage-collected, so that one which nothing refers to
 * would vanish some time after the start.
 */
const held = new Set<Database>();

/**
 * Makes the directory (mode 0700) when it is missing and locks it against other processes.
 *
 * The lock is an exclusive transaction on an empty SQLite database: the operating system drops it with the process, so
 * that nothing is left to clean up after kill -9.
 *
 * @throws RetryableError when another process holds the directory, or its disk is full or fails; UserError when it cannot be
 *   made or written to.
 */
export function openDataDir(dir: string): DataDir {
  const path = resolve(dir);
  const pidFile = join(path, PID_FILE);
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw faultOf(`data directory ${path} cannot be made`, cause);
  }
  const database = lock(path, pidFile);
  held.add(database);
  try {
    // For the message of the process that is kept out; the lock itself needs no pid.
    makePrivateFile(pidFile);
    writeFileSync(pidFile, `${process.pid}\n`);
  } catch (cause) {
    letGo(database);
    throw faultOf(`data directory ${path} cannot be written to`, cause);
  }
  const opened = identityOf(path);
  return {
    path,
    lockFile: join(path, LOCK_FILE),
    file: (name) => join(path, name),
    release() {
      if (!held.has(database)) return;
      // First the pid: afterwards the file is the next process's. In another directory at this path it is so already.
      if (identityOf(path) === opened) rmSync(pidFile, { force: true });
      letGo(database);
    },
  };
}

/** The device and inode at a path; empty where there is nothing. */
function identityOf(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found ? `${found.dev} ${found.ino}` : "";
}

function lock(path: string, pidFile: string): Database {
  let database: Database | undefined;
  try {
    makePrivateFile(join(path, LOCK_FILE));
    database = new Database(join(path, LOCK_FILE), { readwrite: true });
    database.run(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`);
    // In WAL mode an exclusive transaction would let readers in.
    database.run("PRAGMA journal_mode = DELETE");
    database.run("BEGIN EXCLUSIVE");
    return database;
  } catch (cause) {
    database?.close();
    if (cause instanceof SQLiteError && cause.code === "SQLITE_BUSY") {
      throw new RetryableError(
        `data directory ${path} is in use by ${holder(pidFile)}; stop it, or name another one with --data-dir`,
        { cause },
      );
    }
    throw faultOf(`data directory ${path} cannot be locked by its file ${LOCK_FILE}`, cause);
  }
}

function faultOf(what: string, cause: unknown): Error {
  const text = `${what}: ${reasonOf(cause)}`;
  return isTransient(cause) ? new RetryableError(text, { cause }) : new UserError(text, { cause });
}

function letGo(database: Database): void {
  held.delete(database);
  database.close();
}

/** Names the process that holds the lock; it may have it for an instant before its pid is written. */
function holder(pidFile: string): string {
  try {
    const [pid] = /^\d+/.exec(readFileSync(pidFile, "utf8")) ?? [];
    return pid === undefined ? "another process" : `process ${pid}`;
  } catch {
    return "another process";
  }
}
