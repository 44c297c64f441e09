import { openState, type StateDatabase } from "../../db/state/database.ts";
import { savedClockSecs } from "../../db/state/state-clock.ts";
import { markMoved, stateMoveOf } from "../../db/state/state-move.ts";
import { UserError } from "../../lib/failure.ts";
import { nowSecs } from "../../runtime/clock.ts";
import { COPIED_TABLES, DigestWriter, type TableDigest } from "./copied-tables.ts";
import type { PgStateCopy } from "./postgres-tables.ts";
import { type NulCount, sqliteLines, sqliteSequence } from "./sqlite-tables.ts";
import {
  digestOf,
  floorOf,
  hashed,
  inTransaction,
  isEqual,
  refuseLiveNodes,
  refuseMoved,
  requireEqual,
  type StateCopyOptions,
  type StateCopyReport,
} from "./state-copy.ts";

/**
 * Copies the state from state.db into an empty PostgreSQL database, all tables in one transaction, which is committed when everything has
 * been read back and is equal. Then state.db is marked as moved, so that no node starts with it. If a copy is interrupted between the
 * two, the next one finds all rows and only sets the mark.
 *
 * @throws UserError if one of the two must not be used; Error if a table differs.
 */
export async function copyToPostgres(options: StateCopyOptions): Promise<StateCopyReport> {
  const { file, postgresName, dryRun, clock } = options;
  using source = openState(file, { mayCreate: false, mayBeMoved: true });
  refuseMoved(file, stateMoveOf(source)?.destination);
  const report = await inTransaction(options, async (target) => {
    refuseFormer(await target.movedTo());
    await refuseLiveNodes(target);
    return (await isEmpty(target)) ? fill(source, target, options) : recognise(source, target, options);
  });
  if (!dryRun) markMoved(source, { destination: postgresName, movedAt: nowSecs(clock) });
  return report;
}

/** @throws UserError if the state was moved away from the target, which still has its rows. */
function refuseFormer(destination: string | undefined): void {
  if (destination !== undefined)
    throw new UserError(
      `PostgreSQL still holds the state that was moved to ${destination}. Drop its schema, or use an empty database or another state.schema.`,
    );
}

async function isEmpty(target: PgStateCopy): Promise<boolean> {
  for (const table of COPIED_TABLES) if (!(await target.isEmpty(table))) return false;
  return true;
}

async function fill(
  source: StateDatabase,
  target: PgStateCopy,
  options: StateCopyOptions,
): Promise<StateCopyReport> {
  const nuls: NulCount = { nuls: 0 };
  const tables: TableDigest[] = [];
  for (const table of COPIED_TABLES) {
    options.signal.throwIfAborted();
    const digest = new DigestWriter();
    await target.insert(table, hashed(sqliteLines(source.sqlite, table, nuls), digest));
    const read = digest.finish(table.name);
    requireEqual(read, await digestOf(table.name, target.lines(table)));
    if (table.sequence) await target.setSequence(table, sqliteSequence(source.sqlite, table));
    tables.push(read);
  }
  await target.setClock(savedClockSecs(source) ?? 0, floorOf(options));
  return { tables, nuls: nuls.nuls, wasThere: false };
}

/** @throws UserError unless PostgreSQL has exactly the rows of the source. */
async function recognise(
  source: StateDatabase,
  target: PgStateCopy,
  { signal }: StateCopyOptions,
): Promise<StateCopyReport> {
  const nuls: NulCount = { nuls: 0 };
  const tables: TableDigest[] = [];
  for (const table of COPIED_TABLES) {
    signal.throwIfAborted();
    const read = await digestOf(table.name, sqliteLines(source.sqlite, table, nuls));
    if (!isEqual(read, await digestOf(table.name, target.lines(table))))
      throw new UserError(
        `PostgreSQL holds another state: ${table.name} is neither empty nor equal to that of ${source.file}. Use an empty database, or another state.schema.`,
      );
    tables.push(read);
  }
  return { tables, nuls: nuls.nuls, wasThere: true };
}
