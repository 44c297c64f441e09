import type { IndexDatabase } from "../db/index/database.ts";
import { markBlocksApplied } from "../db/index/event-blocks.ts";
import type { BlockRef } from "../db/index/outbox.ts";
import { isHistory } from "./events.ts";
import { type RelayedBatch, type RelayedBlocks, type SingleOp, singleOps } from "./relay.ts";

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

/** Records that the blocks of a batch are applied, in its transaction. Old ones caused no events. */
export function markRelayedBlocks(db: IndexDatabase, blocks: RelayedBlocks, nowSecs: number): void {
  const { shard, first, last, parts, isJournal } = blocks;
  const old = parts.findLast(({ time }) => isHistory({ happenedAt: time }, nowSecs));
  markBlocksApplied(db, { shard, first, last, missingUpTo: isJournal ? last : old?.number });
}
