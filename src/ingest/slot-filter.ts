const HASHES = 4;
const BITS_PER_SLOT = 16;
const MIN_BITS = 2 ** 20;
/** 256 MB. Beyond some 130 million slots more and more of them are reported in error. */
const MAX_BITS = 2 ** 31;

/** 64 bits that stand for a slot. */
export interface SlotHash {
  readonly low: number;
  readonly high: number;
}

export function slotHash(fid: number, store: number, slot: Uint8Array): SlotHash {
  const hash = Bun.hash(slot, BigInt(fid) * 128n + BigInt(store)) as bigint;
  return { low: Number(hash & 0xffff_ffffn), high: Number(hash >> 32n) };
}

/** A Bloom filter of slots: it never misses one that was added, and rarely reports one that was not. */
export class SlotFilter {
  readonly #words: Uint32Array;
  readonly #bits: number;

  constructor(expectedSlots: number) {
    this.#bits = Math.min(MAX_BITS, Math.max(MIN_BITS, expectedSlots * BITS_PER_SLOT));
    this.#words = new Uint32Array(Math.ceil(this.#bits / 32));
  }

  /** Adds a slot. Returns whether it may have been there. */
  add({ low, high }: SlotHash): boolean {
    const step = (high | 1) >>> 0;
    let isPresent = true;
    for (let n = 0; n < HASHES; n++) {
      const bit = (low + n * step) % this.#bits;
      const word = bit >>> 5;
      const mask = 1 << (bit & 31);
      const before = this.#words[word] ?? 0;
      if ((before & mask) === 0) {
        isPresent = false;
        this.#words[word] = before | mask;
      }
    }
    return isPresent;
  }
}
