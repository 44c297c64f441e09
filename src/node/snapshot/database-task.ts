import { renameSync, rmSync, statSync } from "node:fs";
import type { DatabaseFile, DatabaseName } from "../../db/sqlite/storage-error.ts";
import { EXIT_USER, RetryableError, UserError } from "../../lib/failure.ts";
import { ownProgram } from "../../runtime/process.ts";
import { megabytes } from "./snapshot-directory.ts";
import { unfinishedCopyOf } from "./unfinished-copy.ts";

/** The hidden command that runs a task. */
export const DATABASE_TASK = "database-task";

/** SQLite work that takes minutes on a large file and cannot be interrupted within a thread. */
export type DatabaseTask =
  /** Writes the content of `file`, as of one moment, into the new file `to`. */
  | { readonly name: "copy"; readonly database: DatabaseName; readonly file: string; readonly to: string }
  /** Looks for damaged pages in `file`. */
  | { readonly name: "check"; readonly database: DatabaseName; readonly file: string };

/** A task's last line of output. */
export interface DatabaseTaskResult {
  /** SQLite's description of damaged pages; empty if there are none. */
  readonly damage: readonly string[];
}

/** The write-ahead log of a small database may grow to this size during a copy. */
const LOG_FLOOR_BYTES = 256 * 1024 * 1024;
const LOG_SHARE = 0.1;
const POLL_INTERVAL_MS = 200;

/**
 * Copies a database that other processes may be writing to. The copy is complete and consistent, without a write-ahead log, and its pages
 * have been checked. No process can reset the log of the database during the copy, so the copy is abandoned if the log grows too large.
 *
 * @throws RetryableError if the log has grown too large; Error if SQLite fails.
 */
export async function copyDatabase(
  where: DatabaseFile,
  to: string,
  {
    signal,
    onBytes,
    logLimitBytes,
  }: {
    readonly signal: AbortSignal;
    /** Called with the size of the copy so far. */
    readonly onBytes: (bytes: number) => void;
    /** Default: a tenth of the database. */
    readonly logLimitBytes?: number;
  },
): Promise<DatabaseTaskResult> {
  const { file } = where;
  const limit = logLimitBytes ?? defaultLogLimit(file);
  const tooLong = new AbortController();
  const copy = unfinishedCopyOf(to);
  const watch = () => {
    onBytes(sizeOf(copy));
    if (sizeOf(`${file}-wal`) > limit) tooLong.abort();
  };
  const watching = setInterval(watch, POLL_INTERVAL_MS);
  try {
    watch();
    const result = await runDatabaseTask(
      { name: "copy", ...where, to: copy },
      AbortSignal.any([signal, tooLong.signal]),
    );
    renameSync(copy, to);
    return result;
  } catch (cause) {
    for (const suffix of ["", "-journal"]) rmSync(copy + suffix, { force: true });
    if (!tooLong.signal.aborted || signal.aborted) throw cause;
    throw logTooLong(file, limit, { cause });
  } finally {
    clearInterval(watching);
  }
}

const defaultLogLimit = (file: string) => Math.max(sizeOf(file) * LOG_SHARE, LOG_FLOOR_BYTES);

/** @throws RetryableError if the log of a database has grown so much that a reader that pins one state of it has to give up. */
export function refuseLongLog(file: string, limit = defaultLogLimit(file)): void {
  if (sizeOf(`${file}-wal`) > limit) throw logTooLong(file, limit);
}

const logTooLong = (file: string, limit: number, options?: ErrorOptions) =>
  new RetryableError(
    `${file}: so much was written while it was copied that its write-ahead log passed ${megabytes(limit)}, which is freed only after the copy. Try again when less is written.`,
    options,
  );

/** Looks for damaged pages of a database. */
export async function checkDatabase(where: DatabaseFile, signal: AbortSignal): Promise<DatabaseTaskResult> {
  return await runDatabaseTask({ name: "check", ...where }, signal);
}

/** Runs a task in a separate process, which ends when `signal` aborts. */
async function runDatabaseTask(task: DatabaseTask, signal: AbortSignal): Promise<DatabaseTaskResult> {
  signal.throwIfAborted();
  const child = Bun.spawn([...ownProgram(), DATABASE_TASK, JSON.stringify(task)], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    // The task reads no settings.
    env: {},
  });
  const kill = () => child.kill("SIGKILL");
  signal.addEventListener("abort", kill);
  try {
    const [output, errors, exitCode] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    signal.throwIfAborted();
    if (exitCode === 0) return JSON.parse(output) as DatabaseTaskResult;
    throw failureOf(exitCode, errors);
  } finally {
    signal.removeEventListener("abort", kill);
  }
}

/** Returns the error of a failed task. Its process has written the message. */
function failureOf(exitCode: number, errors: string): Error {
  const message =
    errors.trim().replace(/^error: /, "") || `the process that copies databases ended with ${exitCode}`;
  return exitCode === EXIT_USER ? new UserError(message) : new RetryableError(message);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
