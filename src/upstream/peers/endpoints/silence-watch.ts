const MAX_PATIENCE = 64;

/**
 * Knows since when blocks of each shard are waited for. A time in which the consumer works on earlier blocks does not count: only a
 * node that sends nothing is silent.
 */
export class SilenceWatch {
  readonly #nowMs: () => number;
  readonly #waitingSinceMs = new Map<number, number>();
  /** How many times as long a shard may be silent, after nodes that were left for its silence in vain. */
  readonly #patience = new Map<number, number>();

  /** @param nowMs a monotonic clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /**
   * Passes the blocks of a shard on, and notes when the next one is waited for.
   *
   * @param isBlock whether an item is a block, and not a mark between blocks. Default: each is.
   */
  async *watch<Item>(
    shard: number,
    items: AsyncGenerator<Item>,
    isBlock: (item: Item) => boolean = () => true,
  ): AsyncGenerator<Item> {
    this.#waitingSinceMs.set(shard, this.#nowMs());
    try {
      for await (const item of items) {
        if (isBlock(item)) {
          this.#waitingSinceMs.delete(shard);
          this.#patience.delete(shard);
        }
        yield item;
        if (isBlock(item)) this.#waitingSinceMs.set(shard, this.#nowMs());
      }
    } finally {
      this.#waitingSinceMs.delete(shard);
    }
  }

  /** Returns the shards of which no block has arrived for `ms`. */
  silentFor(ms: number): readonly number[] {
    const nowMs = this.#nowMs();
    return [...this.#waitingSinceMs].flatMap(([shard, sinceMs]) =>
      nowMs - sinceMs >= ms * (this.#patience.get(shard) ?? 1) ? [shard] : [],
    );
  }

  /** A node was left for the silence of a shard. Until its next block the shard gets twice the time, so that a slow start ends, too. */
  gaveUp(shard: number): void {
    this.#patience.set(shard, Math.min(MAX_PATIENCE, 2 * (this.#patience.get(shard) ?? 1)));
  }

  clear(): void {
    this.#waitingSinceMs.clear();
  }
}
