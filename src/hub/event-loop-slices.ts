const SLICE_MS = 10;

/** Splits long work into slices, so that other work of the thread runs in between. */
export class EventLoopSlices {
  #startedAtMs = performance.now();

  /** Await before each step. Resolves at once until the slice has ended. */
  async next(): Promise<void> {
    if (performance.now() - this.#startedAtMs < SLICE_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#startedAtMs = performance.now();
  }
}
