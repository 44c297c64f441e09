import { SQLiteError } from "bun:sqlite";
import { existsSync, renameSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { reasonOf } from "../../lib/failure.ts";
import type { Result } from "../../lib/result.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import { companionsOf } from "../sqlite/open.ts";
import { DamagedContent, NewerSideFile, SideDatabase, type SideSchema } from "./side-database.ts";

/**
 * A database next to the index and the state whose content the node can afford to lose: history, previews. It never makes a
 * node unready. While it cannot be used, work is refused with the reason, which is logged once, and it is tried again later.
 */
export interface SideFile extends Disposable {
  /** Runs work in one transaction. Only for the writer. */
  write<T>(work: (db: SideDatabase) => T): Result<T, string>;
  read<T>(work: (db: SideDatabase) => T): Result<T, string>;
  /** Why the last use failed; undefined after a success. */
  fault(): string | undefined;
}

export interface SideFileDeps {
  /** The data directory. */
  readonly dir: string;
  readonly schema: SideSchema;
  readonly clock: Clock;
  readonly log: Logger;
  /**
   * The only writer of the file creates it, and replaces it when it is damaged or of a newer version. Readers wait for that.
   */
  readonly mode: "writer" | "reader";
  /** Returns the free space of the disk, in bytes. */
  readonly freeBytes?: (dir: string) => number;
}

/** With less free space nothing is written, because the index and the state need the rest. */
export const SIDE_MIN_FREE_BYTES = 256 * 1024 * 1024;
const RETRY_MS = 10_000;
const SQLITE_FULL = 13;
/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const DAMAGE: ReadonlySet<number> = new Set([11, 26]);

/** Returns the path of a side file inside a data directory. */
export function sideFilePath(dir: string, { name }: Pick<SideSchema, "name">): string {
  return join(dir, `${name}.db`);
}

/** Opens a side file, on first use. */
export function openSideFile(deps: SideFileDeps): SideFile {
  const { dir, schema, clock, log, mode, freeBytes = freeBytesOf } = deps;
  const path = sideFilePath(dir, schema);
  let open: SideDatabase | undefined;
  let fault: string | undefined;
  let isDiskFull = false;
  let retryAtMs = Number.NEGATIVE_INFINITY;

  function close(): void {
    open?.[Symbol.dispose]();
    open = undefined;
  }

  function connect(): SideDatabase {
    if (open && !open.isInPlace()) close();
    if (open) return open;
    if (mode === "reader") open = SideDatabase.openReader(path, schema);
    else
      try {
        open = SideDatabase.openWriter(path, schema);
      } catch (cause) {
        if (!isUnusable(cause)) throw cause;
        replace(cause);
        open = SideDatabase.openWriter(path, schema);
      }
    return open;
  }

  /** Moves an unusable file away, so that a new one is created. */
  function replace(cause: unknown): void {
    close();
    const to = `${path}.bad-${clock.nowMs()}`;
    for (const from of [path, ...companionsOf(path)])
      if (existsSync(from)) renameSync(from, `${to}${from.slice(path.length)}`);
    log.warn(
      { file: path, movedTo: to, reason: reasonOf(cause) },
      "Moved a side file away and started a new one",
    );
  }

  function use<T>(isWrite: boolean, work: (db: SideDatabase) => T): Result<T, string> {
    const nowMs = clock.nowMs();
    if (fault !== undefined && !open && nowMs < retryAtMs && nowMs > retryAtMs - RETRY_MS)
      return { ok: false, error: fault };
    try {
      if (isWrite) requireSpace();
      const db = connect();
      const value = isWrite ? db.transaction(() => work(db)) : work(db);
      // A read does not show whether the next write will have room.
      if (isDiskFull && !isWrite) return { ok: true, value };
      if (fault !== undefined && mode === "writer") log.info({ file: path }, "Uses a side file again");
      fault = undefined;
      isDiskFull = false;
      return { ok: true, value };
    } catch (cause) {
      if (!isStorageFault(cause)) throw cause;
      return refused(cause, nowMs);
    }
  }

  function refused<T>(cause: unknown, nowMs: number): Result<T, string> {
    if (open && mode === "writer" && isUnusable(cause)) {
      try {
        replace(cause);
      } catch (failed) {
        log.warn({ file: path, err: failed }, "Failed to move a damaged side file away");
      }
    }
    isDiskFull = isFull(cause);
    if (!isDiskFull) close();
    const reason = reasonOf(cause);
    if (fault === undefined && mode === "writer")
      log.warn({ file: path, reason }, "A side file cannot be used; the node works without it");
    fault = reason;
    retryAtMs = nowMs + RETRY_MS;
    return { ok: false, error: reason };
  }

  function requireSpace(): void {
    if (freeBytes(dir) < SIDE_MIN_FREE_BYTES) throw new NoSpace("the disk is nearly full");
  }

  return {
    write: (work) => use(true, work),
    read: (work) => use(false, work),
    fault: () => fault,
    [Symbol.dispose]: close,
  };
}

class NoSpace extends Error {}

/** A full disk does not prevent reads. */
const isFull = (cause: unknown) =>
  cause instanceof NoSpace || (cause instanceof SQLiteError && (cause.errno & 0xff) === SQLITE_FULL);

function freeBytesOf(dir: string): number {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize;
}

/** A file of the right version that lacks a table belongs to another program, or was replaced. */
const LACKS_TABLE = /^no such (?:table|column|index)\b/;

function isUnusable(cause: unknown): boolean {
  return (
    cause instanceof NewerSideFile ||
    cause instanceof DamagedContent ||
    (cause instanceof SQLiteError && (DAMAGE.has(cause.errno & 0xff) || LACKS_TABLE.test(cause.message)))
  );
}

/** SQLITE_ERROR, TOOBIG, CONSTRAINT, MISMATCH, MISUSE and RANGE: faults of a statement or of its parameters. */
const BUGS: ReadonlySet<number> = new Set([1, 18, 19, 20, 21, 25]);

/** Reports whether an error is one of the file or its disk, not a bug. */
function isStorageFault(cause: unknown): boolean {
  return (
    isUnusable(cause) ||
    (cause instanceof SQLiteError && !BUGS.has(cause.errno & 0xff)) ||
    cause instanceof NoSpace ||
    (cause instanceof Error && "syscall" in cause)
  );
}
