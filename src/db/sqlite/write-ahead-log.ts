import type { Database, Statement } from "bun:sqlite";
import { closeSync, fstatSync, ftruncateSync, openSync, type Stats, statSync } from "node:fs";
import { companionsOf } from "./open.ts";
import type { UnnoticedFault } from "./storage-error.ts";
import { hasFrame, isLogHeader, logBytes, readLogHeader, recoverableFrames } from "./wal-frames.ts";

/** Number of pages in the log, and how many of them are also in the database file. */
interface LogEnd {
  readonly frames: number;
  readonly backfilled: number;
}

/** SQLite 3.51 reports the end of the log without a checkpoint. Bun uses the SQLite of the system on macOS. */
const WITH_NOOP = "3.51.0";
/** Another process may checkpoint between two reads of the log. */
const MAX_LOOKS = 5;

/**
 * Watches the files of a database for the connection of its writer, which asks before and after each commit whether a
 * restart would find what it has written. SQLite itself does not check: it keeps writing into a log that was deleted, or
 * after a hole.
 */
export class WriteAheadLog implements Disposable {
  /** The descriptor of the log, which SQLite neither locks nor replaces while it has the database open. */
  readonly descriptor: number;
  readonly #pageBytes: number;
  readonly #log: string;
  /** The device and inode of each file. */
  readonly #identities: ReadonlyMap<string, Stats>;
  readonly #noop: Statement<{ log: number; checkpointed: number }, []> | undefined;
  #header: Uint8Array | undefined;
  #frames = 0;

  /** @throws Error if the log cannot be opened. */
  constructor(sqlite: Database) {
    const { filename: file } = sqlite;
    const [log = ""] = companionsOf(file);
    const { page_size: pageBytes, version } = sqlite
      .query<{ page_size: number; version: string }, []>(
        "SELECT page_size, sqlite_version() AS version FROM pragma_page_size",
      )
      .get() ?? { page_size: 0, version: "" };
    this.#pageBytes = pageBytes;
    this.#log = log;
    this.descriptor = openSync(log, "r+");
    this.#identities = new Map([file, ...companionsOf(file)].map((path) => [path, statSync(path)]));
    if (Bun.semver.order(version, WITH_NOOP) < 0) return;
    this.#noop = sqlite.prepare("PRAGMA wal_checkpoint(NOOP)");
  }

  /**
   * Checks the files, within microseconds. Call it outside of a transaction.
   *
   * A log that has lost commits is cut after the last one that SQLite would recover. Pages that the connections of this
   * process still expect are then missing, so a checkpoint fails instead of copying a hole into the database.
   *
   * @returns why nothing more may be committed; undefined while the files are those that the writer has written.
   */
  check(): UnnoticedFault | undefined {
    for (const [path, known] of this.#identities) {
      const found = statSync(path, { throwIfNoEntry: false });
      if (found?.ino === known.ino && found.dev === known.dev) continue;
      const fault = found ? "replaced" : "deleted";
      return { fault, message: `${path} was ${fault}` };
    }
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      const end = this.#end();
      if (end === undefined || this.#isWhole(end)) return undefined;
      const found = recoverableFrames(this.descriptor, end.frames, this.#pageBytes);
      const now = this.#end();
      if (now?.frames !== end.frames || now.backfilled !== end.backfilled) continue;
      if (found >= end.frames) return undefined;
      ftruncateSync(this.descriptor, found === 0 ? 0 : logBytes(found, this.#pageBytes));
      const lost = end.frames - Math.max(found, end.backfilled);
      return {
        fault: "log_lost",
        message: `${this.#log} was cut: ${lost} pages of the last commits are lost`,
      };
    }
    return undefined;
  }

  [Symbol.dispose](): void {
    this.#noop?.finalize();
    closeSync(this.descriptor);
  }

  /** Undefined if SQLite does not report it, and while another connection recovers the log. */
  #end(): LogEnd | undefined {
    try {
      const end = this.#noop?.get();
      return end && end.log >= 0 ? { frames: end.log, backfilled: end.checkpointed } : undefined;
    } catch {
      return undefined;
    }
  }

  /** Reports whether the log looks complete: its header, its length, and its last known page. */
  #isWhole({ frames, backfilled }: LogEnd): boolean {
    if (frames === backfilled) return true;
    const header = readLogHeader(this.descriptor);
    if (!header || fstatSync(this.descriptor).size < logBytes(frames, this.#pageBytes)) return false;
    const isSame = this.#header !== undefined && Buffer.compare(header, this.#header) === 0;
    if (!isSame && !isLogHeader(header)) return false;
    // If the log was cut and then written again, there is a hole before the new end.
    if (isSame && this.#frames > 0 && !hasFrame(this.descriptor, this.#frames - 1, this.#pageBytes))
      return false;
    this.#header = header;
    this.#frames = frames;
    return true;
  }
}
