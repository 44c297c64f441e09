/** Fids that one row of the ledger stands for. */
export const BLOCK_FIDS = 4096;
const START_BYTES = 2;

/** The number of the block that a fid is in. */
export function blockOf(fid: number): number {
  return Math.floor(fid / BLOCK_FIDS);
}

/**
 * A set of fids of one block, a bit for each. Users of an app have fids that lie close together, so a batch of tokens
 * takes a row or two, where a row for each token would cost more than to send it. As stored it begins with the index of
 * its first byte that is not zero and leaves out the zeros at both ends, so that a single fid takes three bytes.
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

  /** Undefined for the empty set, of which there is no row. */
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
