import { canBulkBuild } from "../db/index/bulk/bulk-phase.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import { writeFollowedFids } from "../db/index/followed-fids.ts";
import { putPosition } from "../db/index/positions.ts";
import { setShardCount } from "../db/index/shards.ts";
import {
  addMentionedFid,
  addToTodo,
  appendToJournal,
  clearUpstreamWork,
  dropFromJournal,
} from "../db/index/upstream-work.ts";
import type { RelayedBatch } from "./relay.ts";

/** Writes the state of the following itself: positions, journal and todo list. */
export function writeProgress(db: IndexDatabase, batch: RelayedBatch): void {
  if (batch.startsOver) clearUpstreamWork(db);
  if (batch.followed) writeFollowedFids(db, batch.followed);
  if (batch.shards !== undefined && canBulkBuild(db)) setShardCount(db, batch.shards);
  for (const fid of batch.todo ?? []) addToTodo(db, fid);
  for (const fid of batch.mentioned ?? []) if (addMentionedFid(db, fid)) addToTodo(db, fid);
  if (batch.journal) {
    for (const block of batch.journal.blocks) appendToJournal(db, batch.journal.shard, block);
  }
  for (const { shard, upTo } of batch.discardedJournal ?? []) dropFromJournal(db, shard, upTo);
  for (const { key, position } of batch.positions) putPosition(db, key, position);
}
