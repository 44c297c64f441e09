/**
 * Delays the blocks of data shards until shard 0 has been applied up to the event that they depend on: a gasless key
 * must be applied before the messages that it signed. If a whole poll of shard 0 does not bring that event, the block
 * is not delayed further.
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

  /** Called when shard 0 has been applied up to the event `seqnum`. */
  advanceTo(seqnum: number): void {
    this.#reached = Math.max(this.#reached, seqnum);
    this.#notify();
  }

  /** Called when a poll of shard 0 has ended and all its blocks have been applied. */
  pollEnded(): void {
    this.#polls += 1;
    this.#notify();
  }

  /** Waits before the next poll. Returns at once while a block waits for shard 0. */
  async waitToPoll(ms: number): Promise<void> {
    if (this.#waiting > 0 || this.#signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#endDelay = resolve;
    const timer = setTimeout(resolve, ms);
    await promise;
    clearTimeout(timer);
  }

  /**
   * Resolves when shard 0 has been applied up to `seqnum`, or a whole poll that started after this call has not
   * brought it.
   */
  async waitFor(seqnum: number): Promise<void> {
    // The poll that is running may already have passed the event. The one after it has not.
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
