/** Number of fids in one row of the ledger. */
export const BLOCK_FIDS = 4096;
const START_BYTES = 2;

/** Returns the number of the block of a fid. */
export function blockOf(fid: number): number {
  return Math.floor(fid / BLOCK_FIDS);
}

/**
 * A set of fids of one block, as a bitmap. The fids of an app's users are close together, so a batch of tokens takes one
 * or two rows; a row for each token would cost more than sending to it. The stored form starts with the index of the
 * first non-zero byte and leaves out the zeros at both ends, so that a single fid takes three bytes.
 */
export class FidBlock {
  readonly #bits = new Uint8Array(BLOCK_FIDS / 8);

  constructor(stored?: Uint8Array) {
    if (stored) this.#bits.set(stored.subarray(START_BYTES), ((stored[0] ?? 0) << 8) | (stored[1] ?? 0));
  }

  has(fid: number): boolean {
    const at = fid % BLOCK_FIDS;
    return ((this.#bits[at >> 3] ?? 0) & (1 << (at & 7))) !== 0;
  }

  add(fid: number): void {
    const at = fid % BLOCK_FIDS;
    this.#bits[at >> 3] = (this.#bits[at >> 3] ?? 0) | (1 << (at & 7));
  }

  delete(fid: number): void {
    const at = fid % BLOCK_FIDS;
    this.#bits[at >> 3] = (this.#bits[at >> 3] ?? 0) & ~(1 << (at & 7));
  }

  /** Returns the stored form; undefined for the empty set, which has no row. */
  toStored(): Uint8Array | undefined {
    const bits = this.#bits;
    let start = 0;
    let end = bits.length;
    while (start < end && bits[start] === 0) start += 1;
    while (end > start && bits[end - 1] === 0) end -= 1;
    if (start === end) return undefined;
    const stored = new Uint8Array(START_BYTES + end - start);
    stored[0] = start >> 8;
    stored[1] = start & 0xff;
    stored.set(bits.subarray(start, end), START_BYTES);
    return stored;
  }
}
