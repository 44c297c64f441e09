import { existsSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { PAUSABLE } from "../../cluster/switch-store.ts";
import { removeDatabase } from "../../db/sqlite/open.ts";
import { openState, type StateDatabase } from "../../db/state/database.ts";
import { raiseNonceFloor, saveClock } from "../../db/state/state-clock.ts";
import { stateMoveOf } from "../../db/state/state-move.ts";
import { UserError } from "../../lib/failure.ts";
import { syncPath } from "../../runtime/files.ts";
import { COPIED_TABLES, DigestWriter, type TableDigest } from "./copied-tables.ts";
import type { PgStateCopy } from "./postgres-tables.ts";
import { insertLines, setSqliteSequence, sqliteLines } from "./sqlite-tables.ts";
import {
  digestOf,
  floorOf,
  hashedAsync,
  inTransaction,
  isEqual,
  refuseLiveNodes,
  refuseMoved,
  requireEqual,
  type StateCopyOptions,
  type StateCopyReport,
} from "./state-copy.ts";

/** The suffix for a state.db that was moved to PostgreSQL earlier, next to the new one. */
const FORMER = ".moved";

/**
 * Copies the state from PostgreSQL into a new state.db: `state.db.partial` is written, read back, compared, synced and renamed. Then the
 * state in PostgreSQL is marked as moved, so that no node starts with it. If a copy is interrupted between the two, the next one finds
 * all rows and only sets the mark. A state.db that had been moved to PostgreSQL stays as `state.db.moved`.
 *
 * @param options.force whether nodes may be alive if everything is paused.
 * @throws UserError if one of the two must not be used; Error if a table differs.
 */
export async function copyToSqlite(
  options: StateCopyOptions & { readonly force: boolean },
): Promise<StateCopyReport> {
  const { file, dryRun, force } = options;
  const partial = `${file}.partial`;
  removeDatabase(partial);
  try {
    return await inTransaction(options, async (source) => {
      refuseMoved("PostgreSQL", await source.movedTo());
      if (!force || !(await isAllPaused(source)))
        await refuseLiveNodes(
          source,
          "Stop them and try again in ten seconds, or pause all and add --force.",
        );
      const former = stateAt(file);
      if (former === "used") {
        const report = await recognise(file, source, options);
        await source.markMoved(file);
        return report;
      }
      const tables = await fill(partial, source, options);
      if (!dryRun) {
        syncPath(partial);
        if (former === "moved") setAside(file);
        renameSync(partial, file);
        syncPath(dirname(file));
      }
      await source.markMoved(file);
      return { tables, nuls: 0, wasThere: false };
    });
  } finally {
    removeDatabase(partial);
  }
}

async function isAllPaused(source: PgStateCopy): Promise<boolean> {
  const paused = await source.paused();
  return PAUSABLE.every((name) => paused.includes(name));
}

/** @throws UserError if there is a write-ahead log without its database: it would be applied to the new one. */
function stateAt(file: string): "none" | "moved" | "used" {
  if (existsSync(file)) {
    using db = openState(file, { mayCreate: false, mayBeMoved: true });
    db.checkpoint();
    return stateMoveOf(db) ? "moved" : "used";
  }
  if (existsSync(`${file}-wal`))
    throw new UserError(`${file}-wal is there without ${file}, which it belongs to. Move it away.`);
  return "none";
}

async function fill(
  file: string,
  source: PgStateCopy,
  options: StateCopyOptions,
): Promise<readonly TableDigest[]> {
  using db = openState(file);
  // Everything is synced at the end.
  db.sqlite.exec("PRAGMA synchronous = OFF");
  const tables: TableDigest[] = [];
  db.sqlite.exec("BEGIN IMMEDIATE");
  for (const table of COPIED_TABLES) {
    options.signal.throwIfAborted();
    const digest = new DigestWriter();
    await insertLines(db.sqlite, table, hashedAsync(source.lines(table), digest));
    const read = digest.finish(table.name);
    requireEqual(read, await digestOf(table.name, sqliteLines(db.sqlite, table)));
    if (table.sequence) setSqliteSequence(db.sqlite, table, await source.sequence(table));
    tables.push(read);
  }
  const nowSecs = await source.nowSecs();
  if (nowSecs > 0) saveClock(db, nowSecs);
  raiseNonceFloor(db, floorOf(options));
  db.sqlite.exec("COMMIT");
  db.checkpoint();
  return tables;
}

/** @throws UserError unless state.db has exactly the rows of PostgreSQL. */
async function recognise(
  file: string,
  source: PgStateCopy,
  { signal }: StateCopyOptions,
): Promise<StateCopyReport> {
  using db: StateDatabase = openState(file, { mayCreate: false });
  const tables: TableDigest[] = [];
  for (const table of COPIED_TABLES) {
    signal.throwIfAborted();
    const read = await digestOf(table.name, source.lines(table));
    if (!isEqual(read, await digestOf(table.name, sqliteLines(db.sqlite, table))))
      throw new UserError(
        `${file} holds another state: its ${table.name} differ from those in PostgreSQL. Move it away, with ${file}-wal and ${file}-shm.`,
      );
    tables.push(read);
  }
  return { tables, nuls: 0, wasThere: true };
}

/** The write-ahead log is empty, and must not be applied to the new file. */
function setAside(file: string): void {
  removeDatabase(file + FORMER);
  renameSync(file, file + FORMER);
  for (const suffix of ["-wal", "-shm"]) rmSync(file + suffix, { force: true });
}
