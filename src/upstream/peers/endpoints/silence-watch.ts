const MAX_PATIENCE = 64;

/**
 * Tracks since when a block of each shard has been awaited. Time in which the consumer works on earlier blocks does not
 * count, because only a node that sends nothing is silent.
 */
export class SilenceWatch {
  readonly #nowMs: () => number;
  readonly #waitingSinceMs = new Map<number, number>();
  /** Factor by which a shard may be silent for longer, after nodes were left in vain because of its silence. */
  readonly #patience = new Map<number, number>();

  /** @param nowMs a monotonic clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /**
   * Passes on the blocks of a shard, and notes when the next one is being waited for.
   *
   * @param isBlock reports whether an item is a block, rather than a mark between blocks. Default: every item is.
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

  /** Returns the shards from which no block has arrived for `ms`. */
  silentFor(ms: number): readonly number[] {
    const nowMs = this.#nowMs();
    return [...this.#waitingSinceMs].flatMap(([shard, sinceMs]) =>
      nowMs - sinceMs >= ms * (this.#patience.get(shard) ?? 1) ? [shard] : [],
    );
  }

  /**
   * Records that a node was left because a shard was silent. Until its next block, the shard gets twice the time, so that
   * even a slow start succeeds.
   */
  gaveUp(shard: number): void {
    this.#patience.set(shard, Math.min(MAX_PATIENCE, 2 * (this.#patience.get(shard) ?? 1)));
  }

  clear(): void {
    this.#waitingSinceMs.clear();
  }
}
