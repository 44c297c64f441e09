/** Bytes that the whole process may hold for clients that have not taken them yet. */
export const MAX_UNSENT_BYTES = 256 * 1024 * 1024;

/** How much is reserved, for whoever has to know of it without reserving. */
export interface UnsentBytesView {
  readonly usedBytes: number;
  readonly maxBytes: number;
}

/**
 * The budget of bytes that wait to be sent, one for all threads that respond: the counter stands in shared memory, so
 * reserving is one atomic addition. Who gets no bytes refuses new work or waits; nobody takes them without asking.
 */
export class UnsentBytes implements UnsentBytesView {
  /** Hand it to another thread, which makes its own `UnsentBytes` of it. */
  readonly shared: SharedArrayBuffer;
  readonly maxBytes: number;
  readonly #used: Int32Array;

  constructor(shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT), maxBytes = MAX_UNSENT_BYTES) {
    this.shared = shared;
    this.maxBytes = maxBytes;
    this.#used = new Int32Array(shared);
  }

  /** False, with nothing reserved, where the budget does not hold so many more bytes. */
  reserve(bytes: number): boolean {
    if (Atomics.add(this.#used, 0, bytes) + bytes <= this.maxBytes) return true;
    Atomics.sub(this.#used, 0, bytes);
    return false;
  }

  release(bytes: number): void {
    Atomics.sub(this.#used, 0, bytes);
  }

  get usedBytes(): number {
    return Atomics.load(this.#used, 0);
  }

  /** From here on, whoever can do with less takes less. */
  get isHalfUsed(): boolean {
    return this.usedBytes > this.maxBytes / 2;
  }
}

/** What one response has reserved; it may grow and shrink, and ends once. */
export class Reservation {
  readonly #budget: UnsentBytes;
  #bytes = 0;
  #isOver = false;

  constructor(budget: UnsentBytes) {
    this.#budget = budget;
  }

  /** False where the budget does not hold it; what was reserved before stays. */
  grow(bytes: number): boolean {
    if (this.#isOver || !this.#budget.reserve(bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  /** Gives back all but `bytes`. */
  shrinkTo(bytes: number): void {
    const surplus = this.#bytes - bytes;
    if (this.#isOver || surplus <= 0) return;
    this.#bytes = bytes;
    this.#budget.release(surplus);
  }

  end(): void {
    this.shrinkTo(0);
    this.#isOver = true;
  }
}
