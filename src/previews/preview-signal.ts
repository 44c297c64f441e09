/** What the writer of the previews signals to the readers of all threads, in memory that they share. */
export class PreviewSignal {
  readonly shared: SharedArrayBuffer;
  readonly #changes: Int32Array;

  constructor(shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#changes = new Int32Array(shared);
  }

  /** Rises with every change of what is stored; 0 until there is a file. */
  get changes(): number {
    return Atomics.load(this.#changes, 0);
  }

  noteChange(): void {
    Atomics.add(this.#changes, 0, 1);
  }
}
