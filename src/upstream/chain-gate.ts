/**
 * Holds the data shards until shard 0 has been applied as far as their blocks rest on it: a message signed by a gasless
 * key comes behind the key. Where shard 0 gives nothing more, nobody waits for more.
 */
export class ChainGate {
  readonly #signal: AbortSignal;
  #reached = 0;
  #looks = 0;
  #waiting = 0;
  #changed = Promise.withResolvers<void>();
  #endPause: () => void = () => {};

  /** @param signal nobody waits any more when it aborts. */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#tell());
  }

  /** Shard 0 has been applied up to the event `seqnum`. */
  reach(seqnum: number): void {
    this.#reached = Math.max(this.#reached, seqnum);
    this.#tell();
  }

  /** A look at shard 0 is over: all that there was has been applied. */
  looked(): void {
    this.#looks += 1;
    this.#tell();
  }

  /** Waits before the next look; not while somebody waits for what it may bring. */
  async pause(ms: number): Promise<void> {
    if (this.#waiting > 0 || this.#signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#endPause = resolve;
    const timer = setTimeout(resolve, ms);
    await promise;
    clearTimeout(timer);
  }

  /** Resolves when shard 0 has been applied up to `seqnum`, or a whole look from now on has not brought it. */
  async waitFor(seqnum: number): Promise<void> {
    // A look that is under way may have passed the place already; the one behind it has not.
    const enough = this.#looks + 2;
    this.#waiting += 1;
    while (this.#reached < seqnum && this.#looks < enough && !this.#signal.aborted) {
      this.#endPause();
      await this.#changed.promise;
    }
    this.#waiting -= 1;
  }

  #tell(): void {
    this.#endPause();
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
