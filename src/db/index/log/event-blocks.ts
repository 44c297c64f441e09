import type { IndexDatabase } from "../database.ts";
import { getPosition, positionKeys, putPosition } from "../positions.ts";
import { statement } from "../statement.ts";
import type { BlockRef } from "./outbox.ts";

/**
 * Maps the event log to the blocks of a followed node, so that a position of one node can be found on another. Two positions
 * are stored per shard: the last block whose events are in the log, and the block up to which events may be missing, because
 * they were deleted or their blocks were not applied live.
 */

const LAST = "events last block ";
const MISSING = "events missing up to ";

const blocksUpTo = statement<{ shard: number; block: number }, [seq: number]>(
  "event-blocks.up-to",
  "SELECT shard, block FROM event_outbox WHERE seq <= ? AND shard IS NOT NULL ORDER BY seq",
);
const firstBehind = statement<{ seq: number }, [shard: number, block: number]>(
  "event-blocks.first-behind",
  "SELECT seq FROM event_outbox WHERE shard = ? AND block > ? ORDER BY block, seq LIMIT 1",
);

const firstBlocksBehind = statement<{ shard: number; block: number }, [seq: number]>(
  "event-blocks.first-blocks-behind",
  "SELECT shard, MIN(block) AS block FROM event_outbox WHERE seq > ? AND shard IS NOT NULL GROUP BY shard",
);

/** Blocks of a shard that one transaction applies, in order. */
export interface AppliedBlocks {
  readonly shard: number;
  readonly first: number;
  readonly last: number;
  /**
   * The last of these blocks whose events may be missing, for example because it was applied long after its time; undefined
   * if there is none.
   */
  readonly missingUpTo: number | undefined;
}

/** Records that blocks are applied, in their transaction. */
export function markBlocksApplied(
  db: IndexDatabase,
  { shard, first, last, missingUpTo }: AppliedBlocks,
): void {
  const before = getPosition(db, LAST + shard);
  const isContiguous = before !== undefined && first <= before + 1;
  if (!isContiguous) markMissing(db, { shard, number: first - 1 });
  if (missingUpTo !== undefined) markMissing(db, { shard, number: missingUpTo });
  if (before === undefined || last > before) putPosition(db, LAST + shard, last);
}

/** Records that the events up to a number are about to be deleted, in the transaction that deletes them. */
export function markEventsMissing(db: IndexDatabase, upToSeq: number): void {
  const last = new Map(db.all(blocksUpTo, upToSeq).map(({ shard, block }) => [shard, block]));
  for (const [shard, number] of last) markMissing(db, { shard, number });
}

function markMissing(db: IndexDatabase, { shard, number }: BlockRef): void {
  if (number > (getPosition(db, MISSING + shard) ?? -1)) putPosition(db, MISSING + shard, number);
}

/**
 * Returns, by shard, the last block whose events are all in the log at or before a number. Empty without a followed node.
 * Reads all events after the number, which are those not yet on disk.
 */
export function lastEventBlocks(db: IndexDatabase, upToSeq: number): Map<number, number> {
  const last = byShard(db, LAST);
  if (last.size === 0) return last;
  for (const { shard, block } of db.all(firstBlocksBehind, upToSeq)) last.set(shard, block - 1);
  return last;
}

/** Returns, by shard, the block up to which events may be missing. */
export function missingEventBlocks(db: IndexDatabase): Map<number, number> {
  return byShard(db, MISSING);
}

function byShard(db: IndexDatabase, prefix: string): Map<number, number> {
  return new Map(
    positionKeys(db, prefix).map((key) => [Number(key.slice(prefix.length)), getPosition(db, key) ?? 0]),
  );
}

/** Returns the number of the first event of a shard after a block; undefined if there is none. */
export function firstEventBehind(db: IndexDatabase, { shard, number }: BlockRef): number | undefined {
  return db.get(firstBehind, shard, number)?.seq;
}
