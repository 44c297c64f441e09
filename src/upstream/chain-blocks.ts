import type { FollowedBlock, FollowedBlockEvent } from "../protocol/wire/generated/upstream.ts";
import { GapError } from "./gap-error.ts";
import type { ShardSource } from "./shard-blocks.ts";
import { BLOCK_SHARD } from "./shards.ts";
import { Backoff } from "./timings.ts";

/**
 * The position in shard 0: its last block that was read, and the number of its last event; undefined before the
 * first.
 */
export interface ChainPosition {
  readonly block: number;
  readonly seqnum: number | undefined;
}

/** Marks that all blocks that exist so far have been read. */
export const CAUGHT_UP = Symbol("caught up");

const TRIES_OF_A_BLOCK = 3;

/**
 * Yields the blocks of shard 0 after `after`, each once, without end. The upstream has no stream of them, so it is
 * polled: after each poll that returned all blocks, `CAUGHT_UP` is yielded, and the consumer decides when to poll
 * again.
 *
 * @throws GapError if blocks or events are missing and stay missing when requested again.
 */
export async function* chainBlocks(
  source: Omit<ShardSource, "shard">,
  after: ChainPosition,
): AsyncGenerator<FollowedBlock | typeof CAUGHT_UP> {
  const { client, timings, signal, onFault, onHead } = source;
  const backoff = new Backoff(timings);
  let position = after;
  let gaps = 0;
  while (!signal.aborted) {
    let isCaughtUp = false;
    try {
      for await (const block of client.blocks(position.block + 1)) {
        const number = numberOf(block);
        if (number <= position.block) continue;
        const next = positionAfter(position, block);
        if (!next) throw new GapError(BLOCK_SHARD, position.block + 1, number);
        position = next;
        onHead(number);
        gaps = 0;
        backoff.reset();
        yield block;
      }
      isCaughtUp = true;
    } catch (cause) {
      if (cause instanceof GapError && ++gaps >= TRIES_OF_A_BLOCK) throw cause;
      if (!signal.aborted) onFault("reading the blocks of shard 0 failed", cause);
      await backoff.wait(signal);
    }
    if (isCaughtUp) yield CAUGHT_UP;
  }
}

/** Returns the position after a block, or undefined if blocks or events are missing before it. */
function positionAfter(
  { block: last, seqnum }: ChainPosition,
  block: FollowedBlock,
): ChainPosition | undefined {
  if (numberOf(block) !== last + 1) return undefined;
  let newest = seqnum;
  for (const event of block.events) {
    const number = seqnumOf(event);
    if (newest !== undefined && number !== newest + 1) return undefined;
    newest = number;
  }
  return { block: last + 1, seqnum: newest };
}

export function numberOf({ header }: FollowedBlock): number {
  return header?.height?.blockNumber ?? 0;
}

export function seqnumOf({ data }: FollowedBlockEvent): number {
  return data?.seqnum ?? 0;
}
