/** Signals from the writer of the previews to the readers of all threads, in shared memory. */
export class PreviewSignal {
  readonly shared: SharedArrayBuffer;
  readonly #changes: Int32Array;

  constructor(shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared;
    this.#changes = new Int32Array(shared);
  }

  /** Rises with every change of the stored previews; 0 until the file exists. */
  get changes(): number {
    return Atomics.load(this.#changes, 0);
  }

  noteChange(): void {
    Atomics.add(this.#changes, 0, 1);
  }
}
