import { createStatementRegistry } from "../../sqlite/statement-registry.ts";
import type { IndexDatabase } from "../database.ts";

/**
 * Fills an empty index in sorted order instead of row by row. Messages are first appended to tables without indexes (the
 * spool); then each table of the index is built from them in the order of its keys.
 *
 * The spool and its progress are in the index file. Each step is one transaction that also records the progress of the
 * build, so a build continues there after a crash. Until the build has finished, the index has no usable content for reads.
 *
 * Commits of the spool and the build are not synced one by one. `sync` makes all of them durable; it also runs by itself
 * every 256 MB. A power failure loses only the last commits, together with the progress recorded in them. Therefore report
 * nothing outside the index file (to an operator, another node or another file) before a `sync` that follows its commit.
 */
export interface BulkBuild {
  readonly phase: BulkPhase;
  /**
   * Appends messages, and whatever `alongside` writes, in one transaction. `alongside` records the messages as done: it
   * removes the fids from the todo list or moves a position. A `batch` that is a function runs in the transaction too. The
   * build resolves messages of one slot by the rules of the protocol, wherever in the spool they are.
   *
   * @throws StorageError when nothing was written. The same call can be repeated.
   */
  append(batch: readonly PackedMessages[] | (() => readonly PackedMessages[]), alongside?: () => void): void;
  /** Makes every commit so far durable. */
  sync(): void;
  /**
   * Runs the next step of the build. The first call ends the spool: nothing can be appended after it. A step is one transaction;
   * in the largest index a step may take minutes. Returns undefined when the build has finished; everything is then
   * durable, and the spool is deleted.
   *
   * @throws StorageError when the step was not done. The same call can be repeated.
   */
  step(): BulkProgress | undefined;
}

/** The state of the index file: appending to the spool, building from it, or an ordinary index. */
export type BulkPhase = "spooling" | "building" | "finished";

/** Progress of a build, for operators and for /status. */
export interface BulkProgress {
  /** Name of the stage that runs next, such as `casts`. */
  readonly stage: string;
  /** Share of the work that is done, from 0 to 1, estimated from the sizes of the stages. */
  readonly done: number;
}

/**
 * Messages of any number of fids in the form in which threads exchange them. `packMessages` (packed-messages.ts) makes it
 * from split messages, so that decoding, hashing, verification and splitting all happen outside the writer's thread.
 */
export interface PackedMessages {
  readonly count: number;
  readonly bytes: Uint8Array;
}

/**
 * The statements of the bulk build. They scan whole tables by design, so they are kept apart from the statements that serve
 * the node, each of which must use an index.
 *
 * Looking up many rows is a merge: the rows are sorted by the key of the other table, so each look-up is next to the
 * previous one. The sorted rows are a subquery with GROUP BY, which SQLite sorts in runs and neither reorders nor flattens.
 * It would drop an ORDER BY there, or with a LIMIT sort by inserting into a temporary tree. `+rowid` makes each group a
 * single row.
 */
export const { statement: bulkStatement } = createStatementRegistry();

const getState = bulkStatement<{ value: number }, [key: string]>(
  "bulk.state.get",
  "SELECT value FROM bulk_state WHERE key = ?",
);
const putState = bulkStatement<unknown, [key: string, value: number]>(
  "bulk.state.put",
  "INSERT OR REPLACE INTO bulk_state (key, value) VALUES (?, ?)",
);

/** Progress of a build, by key. Written in the transactions of the work itself. */
export class BulkState {
  readonly #db: IndexDatabase;

  constructor(db: IndexDatabase) {
    this.#db = db;
  }

  get(key: string): number | undefined {
    return this.#db.get(getState, key)?.value;
  }

  put(key: string, value: number): void {
    this.#db.run(putState, key, value);
  }
}

const hasSpool = bulkStatement<{ one: number }>(
  "bulk.exists",
  "SELECT 1 AS one FROM sqlite_master WHERE type = 'table' AND name = 'bulk_state'",
);
const hasMessages = bulkStatement<{ found: number }>(
  "bulk.has-messages",
  `SELECT EXISTS (SELECT 1 FROM casts) OR EXISTS (SELECT 1 FROM reactions) OR EXISTS (SELECT 1 FROM links)
     OR EXISTS (SELECT 1 FROM user_data) OR EXISTS (SELECT 1 FROM messages) OR EXISTS (SELECT 1 FROM missing_casts)
     AS found`,
);

/** Reports whether a bulk build of this index has started and is not finished. */
export function isBulkBuilding(db: IndexDatabase): boolean {
  return db.get(hasSpool) !== undefined;
}

/** Returns the phase of an unfinished bulk build of this index; undefined if there is none. */
export function bulkPhaseOf(db: IndexDatabase): "spooling" | "building" | undefined {
  if (!isBulkBuilding(db)) return undefined;
  return new BulkState(db).get("building") === undefined ? "spooling" : "building";
}

/** Reports whether a bulk build can start, which is while no message is stored. */
export function canBulkBuild(db: IndexDatabase): boolean {
  return db.get(hasMessages)?.found === 0;
}
