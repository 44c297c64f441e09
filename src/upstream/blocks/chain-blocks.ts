import type { FollowedBlock, FollowedBlockEvent } from "../../protocol/wire/generated/upstream.ts";
import type { ReceivedBlock } from "../calls/decode/codecs.ts";
import { GapError } from "../calls/peer.ts";
import { BLOCK_SHARD } from "../positions.ts";
import { Backoff } from "../timings.ts";
import type { ShardSource } from "./shard-blocks.ts";

/** The position in shard 0: the last block that was read, and the number of its last event; undefined before the first. */
export interface ChainPosition {
  readonly block: number;
  readonly seqnum: number | undefined;
}

/** Marks that all blocks that exist so far have been read. */
export const CAUGHT_UP = Symbol("caught up");

const TRIES_OF_A_BLOCK = 3;

/**
 * Yields the blocks of shard 0 after `after`, each once, without end. The upstream has no stream of them, so it is polled.
 * After each poll that returned all blocks, `CAUGHT_UP` is yielded, and the consumer decides when to poll again.
 *
 * @throws GapError if blocks or events are missing and are still missing when requested again.
 */
export async function* chainBlocks(
  source: Omit<ShardSource, "shard">,
  after: ChainPosition,
): AsyncGenerator<ReceivedBlock | typeof CAUGHT_UP> {
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

/**
 * Delays the blocks of data shards until shard 0 has been applied up to the event that they depend on, because a gasless key
 * must be applied before the messages that it signed. If a complete poll of shard 0 does not return that event, the block is
 * not delayed further.
 */
export class ChainGate {
  readonly #signal: AbortSignal;
  #reached = 0;
  #polls = 0;
  #waiting = 0;
  #changed = Promise.withResolvers<void>();
  #endDelay: () => void = () => {};

  /** @param signal ends all waits when it aborts. */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#notify());
  }

  /** Records that shard 0 has been applied up to the event `seqnum`. */
  advanceTo(seqnum: number): void {
    this.#reached = Math.max(this.#reached, seqnum);
    this.#notify();
  }

  /** Records that a poll of shard 0 has ended and all its blocks have been applied. */
  pollEnded(): void {
    this.#polls += 1;
    this.#notify();
  }

  /** Waits before the next poll. Returns at once while a block is waiting for shard 0. */
  async waitToPoll(ms: number): Promise<void> {
    if (this.#waiting > 0 || this.#signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#endDelay = resolve;
    const timer = setTimeout(resolve, ms);
    await promise;
    clearTimeout(timer);
  }

  /**
   * Resolves when shard 0 has been applied up to `seqnum`, or when a complete poll that started after this call has not
   * returned it.
   */
  async waitFor(seqnum: number): Promise<void> {
    // The running poll may already have passed the event. The next one has not.
    const lastPoll = this.#polls + 2;
    this.#waiting += 1;
    while (this.#reached < seqnum && this.#polls < lastPoll && !this.#signal.aborted) {
      this.#endDelay();
      await this.#changed.promise;
    }
    this.#waiting -= 1;
  }

  #notify(): void {
    this.#endDelay();
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
