/**
 * A number that rises with each change that takes something away from an API key. All HTTP workers of a process share it, so that no
 * request that begins after the change uses what a worker knew before.
 */
export class KeyEpoch {
  readonly shared: SharedArrayBuffer;
  readonly #value: Int32Array;

  /** @param shared that of another thread's; a new one if omitted. */
  constructor(shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#value = new Int32Array(shared);
  }

  get current(): number {
    return Atomics.load(this.#value, 0);
  }

  advance(): void {
    Atomics.add(this.#value, 0, 1);
  }
}
