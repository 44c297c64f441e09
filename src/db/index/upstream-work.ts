import type { IndexDatabase } from "./database.ts";
import { statement } from "./statement.ts";

/** A block of the followed node, as the journal keeps it. */
export interface JournaledBlock {
  readonly block: number;
  /** Its events in wire form. */
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
const todoAfter = statement<{ fid: number }, [fid: number, limit: number]>(
  "upstream-work.todo-after",
  "SELECT fid FROM upstream_todo WHERE fid > ? ORDER BY fid LIMIT ?",
);
const clearTodo = statement<unknown>("upstream-work.clear-todo", "DELETE FROM upstream_todo WHERE fid >= 0");
const addMentioned = statement<unknown, [fid: number]>(
  "upstream-work.add-mentioned",
  "INSERT OR IGNORE INTO upstream_mentioned (fid) VALUES (?)",
);
const mentionedAfter = statement<{ fid: number }, [fid: number, limit: number]>(
  "upstream-work.mentioned-after",
  "SELECT fid FROM upstream_mentioned WHERE fid > ? ORDER BY fid LIMIT ?",
);

/** Keeps a block for later. One that is kept already stays as it is. */
export function appendToJournal(db: IndexDatabase, shard: number, { block, bytes }: JournaledBlock): void {
  db.run(appendBlock, shard, block, bytes);
}

/** The next blocks of a shard behind `block`, at most `limit`. */
export function journaledBlocksAfter(
  db: IndexDatabase,
  shard: number,
  block: number,
  limit: number,
): JournaledBlock[] {
  return db.all(blocksAfter, shard, block, limit);
}

/** Forgets the blocks of a shard up to `block`, which are applied. */
export function dropFromJournal(db: IndexDatabase, shard: number, block: number): void {
  db.run(dropBlocks, shard, block);
}

/** Notes that the state of an fid has to be read; answers whether that is news. */
export function addToTodo(db: IndexDatabase, fid: number): boolean {
  return db.run(addTodo, fid) > 0;
}

/** Notes that the state of an fid has been read; answers whether it was to be. */
export function dropFromTodo(db: IndexDatabase, fid: number): boolean {
  return db.run(dropTodo, fid) > 0;
}

/** The next fids behind `fid` whose state has to be read. */
export function todoBehind(db: IndexDatabase, fid: number, limit: number): number[] {
  return db.all(todoAfter, fid, limit).map((row) => row.fid);
}

/** Notes an fid of which only what presents it is kept; answers whether that is news. */
export function addMentionedFid(db: IndexDatabase, fid: number): boolean {
  return db.run(addMentioned, fid) > 0;
}

/** The next fids behind `fid` of which only what presents them is kept. */
export function mentionedBehind(db: IndexDatabase, fid: number, limit: number): number[] {
  return db.all(mentionedAfter, fid, limit).map((row) => row.fid);
}

/** Forgets all work that is still to be done, before it begins anew. */
export function clearUpstreamWork(db: IndexDatabase): void {
  db.run(clearBlocks);
  db.run(clearTodo);
}
