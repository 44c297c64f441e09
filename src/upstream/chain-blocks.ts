import type { FollowedBlock, FollowedBlockEvent } from "../protocol/wire/generated/upstream.ts";
import { GapError } from "./gap.ts";
import type { ShardSource } from "./shard-blocks.ts";
import { BLOCK_SHARD } from "./shards.ts";
import { Backoff } from "./timings.ts";

/** Where the reading of shard 0 stands: its last block and the number of its last event; undefined before the first. */
export interface ChainPosition {
  readonly block: number;
  readonly seqnum: number | undefined;
}

/** Stands behind the last block that there is by now. */
export const CAUGHT_UP = Symbol("look is over");

const TRIES_OF_A_BLOCK = 3;

/**
 * The blocks of shard 0 behind `after`, each once, without an end. There is no stream of them, so the node is asked again
 * and again: after each look that gave all there was its reader decides when to look again.
 *
 * @throws GapError when blocks or events are missing, also when the node is asked again.
 */
export async function* chainBlocks(
  source: Omit<ShardSource, "shard">,
  after: ChainPosition,
): AsyncGenerator<FollowedBlock | typeof CAUGHT_UP> {
  const { client, pace, signal, onFault, onHead } = source;
  const backoff = new Backoff(pace);
  let position = after;
  let gaps = 0;
  while (!signal.aborted) {
    let isOver = false;
    try {
      for await (const block of client.blocks(position.block + 1)) {
        const number = numberOf(block);
        if (number <= position.block) continue;
        const next = follow(position, block);
        if (!next) throw new GapError(BLOCK_SHARD, position.block + 1, number);
        position = next;
        onHead(number);
        gaps = 0;
        backoff.reset();
        yield block;
      }
      isOver = true;
    } catch (cause) {
      if (cause instanceof GapError && ++gaps >= TRIES_OF_A_BLOCK) throw cause;
      if (!signal.aborted) onFault("reading the blocks of shard 0 failed", cause);
      await backoff.wait(signal);
    }
    if (isOver) yield CAUGHT_UP;
  }
}

/** The position behind a block; undefined when something lies between. */
function follow({ block: last, seqnum }: ChainPosition, block: FollowedBlock): ChainPosition | undefined {
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
