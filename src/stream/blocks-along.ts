import type { BlockRef } from "../db/index/outbox.ts";
import { laterBlocks, NO_BLOCKS, type ShardBlocks } from "./position.ts";

/**
 * Returns for the position behind each event the last block of each shard whose events are all at or before it.
 *
 * @param events The blocks of consecutive events; null for events of no block.
 * @param before The blocks of the position in front of them.
 * @param atEnd The last block of each shard in the log, if the log has no further event; else undefined.
 */
export function blocksAlong(
  events: readonly (BlockRef | null)[],
  before: ShardBlocks,
  atEnd: ShardBlocks | undefined,
): ShardBlocks[] {
  if (before.size === 0 && (atEnd?.size ?? 0) === 0 && events.every((block) => block === null))
    return events.map(() => NO_BLOCKS);
  // An event of a block comes when all events of the blocks before it have come.
  let reached = before;
  const along = events.map((block) => {
    if (block) reached = laterBlocks(reached, new Map([[block.shard, block.number - 1]]));
    return reached;
  });
  let next: ShardBlocks = atEnd ?? NO_BLOCKS;
  for (let at = events.length - 1; at >= 0; at--) {
    along[at] = laterBlocks(along[at] ?? before, next);
    const block = events[at];
    if (block) next = new Map(next).set(block.shard, block.number - 1);
  }
  return along;
}
