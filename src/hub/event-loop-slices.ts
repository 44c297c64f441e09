const SLICE_MS = 10;

/** Cuts long work into slices, between which whatever else waits for the thread has its turn. */
export class EventLoopSlices {
  #beganAtMs = performance.now();

  /** To be awaited before each step; resolves at once while the slice lasts. */
  async next(): Promise<void> {
    if (performance.now() - this.#beganAtMs < SLICE_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#beganAtMs = performance.now();
  }
}
