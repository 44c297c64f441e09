/** A seeded source of numbers: the same seed produces the same sequence on every machine. */
export interface Random {
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  next(): number;
  /** Returns an integer from 0 (inclusive) to `bound` (exclusive). */
  below(bound: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** Returns an index into `weights`, with a probability proportional to the weight there. */
  weighted(weights: readonly number[]): number;
  shuffled<T>(items: readonly T[]): T[];
}

/**
 * Creates a source of random numbers from a text. Each part of the demo network has its own seed, so that a change to one part does not
 * affect the others. Uses sfc32, seeded from an FNV-1a hash, with 32 integer bits per number, so that no platform rounds it.
 */
export function seededRandom(seed: string): Random {
  const next = sfc32(fnv1a(seed));
  const below = (bound: number) => Math.floor(next() * bound);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (items) => {
      const item = items[below(items.length)];
      if (item === undefined) throw new RangeError("nothing to pick from");
      return item;
    },
    weighted: (weights) => {
      let left = next() * weights.reduce((sum, weight) => sum + weight, 0);
      for (const [index, weight] of weights.entries()) {
        left -= weight;
        if (left < 0) return index;
      }
      return weights.length - 1;
    },
    shuffled: (items) =>
      items
        .map((item) => ({ item, order: next() }))
        .sort((a, b) => a.order - b.order)
        .map(({ item }) => item),
  };
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

function sfc32(seed: number): () => number {
  let a = seed;
  let b = 0x9e3779b9;
  let c = 0x243f6a88;
  let counter = 1;
  const next = () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 0x1_0000_0000;
  };
  // The first outputs still depend visibly on the seed; a few rounds mix it into the whole state.
  for (let round = 0; round < 12; round++) next();
  return next;
}
