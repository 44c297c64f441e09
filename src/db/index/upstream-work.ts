import type { IndexDatabase } from "./database.ts";
import { statement } from "./statement.ts";

/** A journaled block of the followed node. */
export interface JournaledBlock {
  readonly block: number;
  /** The block's events in wire form. */
  readonly bytes: Uint8Array;
}

const appendBlock = statement<unknown, [shard: number, block: number, bytes: Uint8Array]>(
  "upstream-work.append-block",
  "INSERT OR IGNORE INTO upstream_journal (shard, block, bytes) VALUES (?, ?, ?)",
);
const blocksAfter = statement<JournaledBlock, [shard: number, block: number, limit: number]>(
  "upstream-work.blocks-after",
  "SELECT block, bytes FROM upstream_journal WHERE shard = ? AND block > ? ORDER BY block LIMIT ?",
);
const dropBlocks = statement<unknown, [shard: number, block: number]>(
  "upstream-work.drop-blocks",
  "DELETE FROM upstream_journal WHERE shard = ? AND block <= ?",
);
const clearBlocks = statement<unknown>(
  "upstream-work.clear-blocks",
  "DELETE FROM upstream_journal WHERE shard >= 0",
);
const addTodo = statement<unknown, [fid: number]>(
  "upstream-work.add-todo",
  "INSERT OR IGNORE INTO upstream_todo (fid) VALUES (?)",
);
const dropTodo = statement<unknown, [fid: number]>(
  "upstream-work.drop-todo",
  "DELETE FROM upstream_todo WHERE fid = ?",
);
const selectTodoAfter = statement<{ fid: number }, [fid: number, limit: number]>(
  "upstream-work.todo-after",
  "SELECT fid FROM upstream_todo WHERE fid > ? ORDER BY fid LIMIT ?",
);
const onTodo = statement<{ one: number }, [fid: number]>(
  "upstream-work.on-todo",
  "SELECT 1 AS one FROM upstream_todo WHERE fid = ?",
);
const clearTodo = statement<unknown>("upstream-work.clear-todo", "DELETE FROM upstream_todo WHERE fid >= 0");
const addMentioned = statement<unknown, [fid: number]>(
  "upstream-work.add-mentioned",
  "INSERT OR IGNORE INTO upstream_mentioned (fid) VALUES (?)",
);
const clearMentioned = statement<unknown>(
  "upstream-work.clear-mentioned",
  "DELETE FROM upstream_mentioned WHERE fid >= 0",
);
const selectMentionedAfter = statement<{ fid: number }, [fid: number, limit: number]>(
  "upstream-work.mentioned-after",
  "SELECT fid FROM upstream_mentioned WHERE fid > ? ORDER BY fid LIMIT ?",
);

/** The newest received block of a shard of the followed network. See `chain_heads`. */
export interface ChainHead {
  readonly shard: number;
  readonly height: number;
  readonly hash: Uint8Array;
  readonly timestamp: number;
  readonly root: Uint8Array;
  readonly certified: number;
}

const selectHead = statement<ChainHead, [shard: number]>(
  "upstream-work.chain-head",
  "SELECT shard, height, hash, timestamp, root, certified FROM chain_heads WHERE shard = ?",
);
const putHead = statement<
  unknown,
  [shard: number, height: number, hash: Uint8Array, timestamp: number, root: Uint8Array, certified: number]
>(
  "upstream-work.put-chain-head",
  `INSERT OR REPLACE INTO chain_heads (shard, height, hash, timestamp, root, certified) VALUES (?, ?, ?, ?, ?, ?)`,
);
const clearHeads = statement<unknown>(
  "upstream-work.clear-chain-heads",
  "DELETE FROM chain_heads WHERE shard >= 0",
);

export function chainHeadOf(db: IndexDatabase, shard: number): ChainHead | undefined {
  return db.get(selectHead, shard);
}

export function putChainHead(db: IndexDatabase, head: ChainHead): void {
  db.run(putHead, head.shard, head.height, head.hash, head.timestamp, head.root, head.certified);
}

/** Adds a block to the journal. Does nothing if the block is already there. */
export function appendToJournal(db: IndexDatabase, shard: number, { block, bytes }: JournaledBlock): void {
  db.run(appendBlock, shard, block, bytes);
}

/** Returns the next blocks of a shard after `block`, at most `limit`. */
export function journaledBlocksAfter(
  db: IndexDatabase,
  shard: number,
  block: number,
  limit: number,
): JournaledBlock[] {
  return db.all(blocksAfter, shard, block, limit);
}

/** Deletes the applied blocks of a shard up to `block`. */
export function dropFromJournal(db: IndexDatabase, shard: number, block: number): void {
  db.run(dropBlocks, shard, block);
}

/** Adds an fid whose state must be read. Returns whether it was new. */
export function addToTodo(db: IndexDatabase, fid: number): boolean {
  return db.run(addTodo, fid) > 0;
}

/** Removes an fid whose state was read. Returns whether it was there. */
export function dropFromTodo(db: IndexDatabase, fid: number): boolean {
  return db.run(dropTodo, fid) > 0;
}

/** Returns the next fids after `fid` whose state must be read. */
export function todoAfter(db: IndexDatabase, fid: number, limit: number): number[] {
  return db.all(selectTodoAfter, fid, limit).map((row) => row.fid);
}

/** Reports whether the state of an fid must be read. */
export function isOnTodo(db: IndexDatabase, fid: number): boolean {
  return db.get(onTodo, fid) !== undefined;
}

/** Adds an fid for which only the profile is stored. Returns whether it was new. */
export function addMentionedFid(db: IndexDatabase, fid: number): boolean {
  return db.run(addMentioned, fid) > 0;
}

/** Replaces the fids for which only the profile is stored. */
export function replaceMentionedFids(db: IndexDatabase, fids: Iterable<number>): void {
  db.run(clearMentioned);
  for (const fid of fids) db.run(addMentioned, fid);
}

/** Returns the next fids after `fid` for which only the profile is stored. */
export function mentionedFidsAfter(db: IndexDatabase, fid: number, limit: number): number[] {
  return db.all(selectMentionedAfter, fid, limit).map((row) => row.fid);
}

/** Deletes all pending work, so that it can start over. */
export function clearUpstreamWork(db: IndexDatabase): void {
  db.run(clearBlocks);
  db.run(clearTodo);
  db.run(clearHeads);
}
