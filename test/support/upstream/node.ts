import type { Chain, ChainTick, DataBlock } from "./chain.ts";
import { heightAt } from "./chain.ts";
import { ShardState } from "./shard-state.ts";
import { DATA_SHARDS } from "./shards.ts";

/** Told of each block of a data shard when it is produced. */
export type BlockListener = (block: DataBlock) => void;

/**
 * The node behind the wire: how far each shard has come, what it still keeps, and what it holds. Shards may come along at
 * different speeds, as they do.
 */
export class UpstreamNode {
  readonly #states = new Map<number, ShardState>(
    [0, ...DATA_SHARDS].map((shard) => [shard, new ShardState()]),
  );
  readonly #produced = new Map<number, number>([0, ...DATA_SHARDS].map((shard) => [shard, 0]));
  readonly #listeners = new Set<BlockListener>();
  /** Items that a page holds at most, however many were asked for. */
  mostPerPage = Number.POSITIVE_INFINITY;
  /** Ticks before this one have no events any more. */
  eventsFrom = 0;
  /** Ticks before this one have no blocks and chunks: the node was set up from a snapshot. */
  blocksFrom = 0;

  constructor(readonly chain: Chain) {}

  /**
   * Produces blocks up to and including tick `upTo - 1`, of the shards named or of all. A data shard replays what shard
   * 0 decided the second before, so it never comes further than one beyond it.
   */
  produce(upTo: number, shards: readonly number[] = [0, ...DATA_SHARDS]): void {
    const end = Math.min(upTo, this.chain.ticks.length);
    for (let n = Math.min(...shards.map((shard) => this.produced(shard))); n < end; n++) {
      for (const shard of shards) {
        const isReady = shard === 0 || this.produced(0) >= n;
        if (isReady && this.produced(shard) === n) this.#produceOne(shard, n);
      }
    }
  }

  #produceOne(shard: number, n: number): void {
    const tick = this.chain.ticks[n] as ChainTick;
    this.#produced.set(shard, n + 1);
    if (shard === 0) {
      this.state(0).takeZero(tick.zero);
      return;
    }
    const block = tick.data.find((one) => one.shard === shard) as DataBlock;
    this.state(shard).takeData(block);
    for (const listener of this.#listeners) listener(block);
  }

  /** Ticks whose block this shard has produced. */
  produced(shard: number): number {
    return this.#produced.get(shard) ?? 0;
  }

  height(shard: number): number {
    return heightAt(shard, this.produced(shard) - 1);
  }

  state(shard: number): ShardState {
    const state = this.#states.get(shard);
    if (!state) throw new RangeError(`there is no shard ${shard}`);
    return state;
  }

  get states(): ShardState[] {
    return DATA_SHARDS.map((shard) => this.state(shard));
  }

  /** Blocks of a data shard that are produced and still kept, in order. */
  blocks(shard: number, from: "events" | "chunks"): DataBlock[] {
    const first = from === "events" ? this.eventsFrom : this.blocksFrom;
    return this.chain.ticks
      .slice(first, this.produced(shard))
      .flatMap(({ data }) => data.filter((block) => block.shard === shard));
  }

  zeroBlocks() {
    return this.chain.ticks.slice(this.blocksFrom, this.produced(0)).map(({ zero }) => zero);
  }

  onBlock(listener: BlockListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
