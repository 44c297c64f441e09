import type { DataBlock } from "./blocks.ts";
import { heightAt } from "./blocks.ts";
import type { Chain, ChainTick } from "./chain.ts";
import { ShardState } from "./shard-state.ts";
import { DATA_SHARDS } from "./shards.ts";

/** Called for each block of a data shard when it is produced. */
export type BlockListener = (block: DataBlock) => void;

/**
 * The state of a scripted node: the height of each shard, its log and its contents. Shards may advance at different
 * speeds, as on the network.
 */
export class UpstreamNode {
  readonly #states = new Map<number, ShardState>(
    [0, ...DATA_SHARDS].map((shard) => [shard, new ShardState()]),
  );
  readonly #produced = new Map<number, number>([0, ...DATA_SHARDS].map((shard) => [shard, 0]));
  readonly #listeners = new Set<BlockListener>();
  /** Maximum items of a page, whatever the request says. */
  mostPerPage = Number.POSITIVE_INFINITY;
  /** Events before this tick are no longer logged. */
  eventsFrom = 0;
  /** Blocks and chunks before this tick are missing: the node was set up from a snapshot. */
  blocksFrom = 0;

  /** Seconds since its newest block, as the node says. */
  blockDelay = 0;

  constructor(readonly chain: Chain) {}

  /**
   * Produces blocks up to and including tick `upTo - 1`, of the listed shards or of all. A data shard replays the messages
   * of shard 0 one second later, so it is never more than one tick ahead of it.
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

  /** Number of ticks whose blocks a shard has produced. */
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

  /** The produced blocks of a data shard that are still stored, in order. */
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
