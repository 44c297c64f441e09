/** Maximum number of bytes that the process buffers for clients that have not received them yet. */
export const MAX_UNSENT_BYTES = 256 * 1024 * 1024;

/** Read-only view of the budget. */
export interface UnsentBytesView {
  readonly usedBytes: number;
  readonly maxBytes: number;
}

/**
 * Budget of the bytes that wait to be sent, shared by all threads that respond. The counter is in shared memory, so a
 * reservation is one atomic addition. A caller whose reservation fails rejects new work or waits.
 */
export class UnsentBytes implements UnsentBytesView {
  /** Transferable to another thread, which creates its own `UnsentBytes` from it. */
  readonly shared: SharedArrayBuffer;
  readonly maxBytes: number;
  readonly #used: Int32Array;

  constructor(shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT), maxBytes = MAX_UNSENT_BYTES) {
    this.shared = shared;
    this.maxBytes = maxBytes;
    this.#used = new Int32Array(shared);
  }

  /** Reserves bytes. Returns false, with nothing reserved, if the budget would be exceeded. */
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

  /** True when callers that can reduce their use of the budget should do so. */
  get isHalfUsed(): boolean {
    return this.usedBytes > this.maxBytes / 2;
  }
}

/** The reservation of one response. It may grow and shrink until it ends. */
export class Reservation {
  readonly #budget: UnsentBytes;
  #bytes = 0;
  #isOver = false;

  constructor(budget: UnsentBytes) {
    this.#budget = budget;
  }

  /** Returns false if the budget would be exceeded; the bytes reserved before stay reserved. */
  grow(bytes: number): boolean {
    if (this.#isOver || !this.#budget.reserve(bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  /** Releases all but `bytes`. */
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
