import { canBulkBuild } from "../db/index/bulk/bulk-state.ts";
import { forgetDecisions } from "../db/index/channels/history.ts";
import { putConfirmedEvents } from "../db/index/confirmed-events.ts";
import { setShardCount } from "../db/index/counts/totals.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import { writeFollowedFids } from "../db/index/identity.ts";
import { markBlocksApplied } from "../db/index/log/event-blocks.ts";
import type { BlockRef } from "../db/index/log/outbox.ts";
import { putPosition } from "../db/index/positions.ts";
import { clearKeys, forgetKnownKeys } from "../db/index/trie/known-keys.ts";
import { forgetRoots } from "../db/index/trie/shard-proofs.ts";
import { dropUnknown, keepUnknown } from "../db/index/unknown-records.ts";
import {
  addMentionedFid,
  addToTodo,
  appendToJournal,
  clearUpstreamWork,
  dropFromJournal,
  putChainHead,
} from "../db/index/upstream-work.ts";
import { isHistory } from "./events.ts";
import { type RelayedBatch, type RelayedBlocks, type SingleOp, singleOps } from "./relayed-op.ts";
import { settleSnapshotKeys } from "./trie/snapshot-keys.ts";

/** Writes the progress of following: positions, journal and todo list. */
export function writeProgress(db: IndexDatabase, batch: RelayedBatch, nowSecs: number): void {
  if (batch.startsOver) {
    clearUpstreamWork(db);
    forgetDecisions(db);
    forgetRoots(db);
    forgetKnownKeys(db);
    if (canBulkBuild(db)) clearKeys(db);
  }
  for (const one of batch.confirmed ?? []) putConfirmedEvents(db, one);
  for (const record of batch.unknown ?? []) keepUnknown(db, record, nowSecs);
  for (const id of batch.recovered ?? []) dropUnknown(db, id);
  if (batch.followed) writeFollowedFids(db, batch.followed);
  if (batch.shards !== undefined && canBulkBuild(db)) setShardCount(db, batch.shards);
  for (const fid of batch.todo ?? []) addToTodo(db, fid);
  for (const fid of batch.mentioned ?? []) if (addMentionedFid(db, fid)) addToTodo(db, fid);
  if (batch.journal) {
    for (const block of batch.journal.blocks) appendToJournal(db, batch.journal.shard, block);
  }
  for (const { shard, upTo } of batch.discardedJournal ?? []) dropFromJournal(db, shard, upTo);
  for (const head of batch.heads ?? []) putChainHead(db, head);
  if (batch.keysKnown) settleSnapshotKeys(db, batch.keysKnown);
  for (const { key, position } of batch.positions) putPosition(db, key, position);
}

/** Yields each single operation of a batch with its block. */
export function* opsWithBlocks({
  ops,
  blocks,
}: Pick<RelayedBatch, "ops" | "blocks">): Generator<readonly [SingleOp, BlockRef | undefined]> {
  const parts = blocks?.parts ?? [];
  let part = 0;
  let left = parts[0]?.ops ?? 0;
  for (const op of ops) {
    while (left === 0 && part < parts.length) left = parts[++part]?.ops ?? 0;
    const number = parts[part]?.number;
    left -= 1;
    const block = blocks && number !== undefined ? { shard: blocks.shard, number } : undefined;
    for (const single of singleOps([op])) yield [single, block];
  }
}

/** Records that the blocks of a batch are applied, in its transaction. Old blocks caused no events. */
export function markRelayedBlocks(db: IndexDatabase, blocks: RelayedBlocks, nowSecs: number): void {
  const { shard, first, last, parts, isJournal } = blocks;
  const old = parts.findLast(({ time }) => isHistory({ happenedAt: time }, nowSecs));
  markBlocksApplied(db, { shard, first, last, missingUpTo: isJournal ? last : old?.number });
}
