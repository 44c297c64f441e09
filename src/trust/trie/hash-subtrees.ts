import { TRIE_HASH_BYTES, writeTrieHash } from "../../protocol/message/message-hash.ts";
import { MAX_KEY_BYTES } from "../trie-key.ts";

/** Maximum number of children of a node, one per nibble. */
export const FANOUT = 16;
/** Depth, in nibbles, of the longest key. */
export const MAX_DEPTH = 2 * MAX_KEY_BYTES;

/** Writes two nibbles for each of `count` bytes, starting at `from`. */
export function writeNibbles(
  bytes: Uint8Array,
  from: number,
  count: number,
  out: Uint8Array,
  at: number,
): void {
  for (let index = from, to = at; index < from + count; index++) {
    const byte = bytes[index] as number;
    out[to++] = byte >> 4;
    out[to++] = byte & 15;
  }
}

/** Returns a copy of twice the size. */
export function doubled(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(2 * bytes.length);
  larger.set(bytes);
  return larger;
}

/** Entries of `width` bytes each, whose first nibble is at the depth `base`. */
export interface Entries {
  readonly bytes: Uint8Array;
  readonly width: number;
  readonly base: number;
}

/**
 * Writes the hash of a subtree that is not divided further: that of entry `one`, which is one of `count`. Returns false if
 * the subtree is an inner node.
 */
export type WriteLeaf = (one: number, count: number, depth: number, out: Uint8Array, at: number) => boolean;

/**
 * Hashing is synchronous, so all tries share these: for each depth, the sizes of the children, where they end, and their
 * hashes.
 */
const sizes = Array.from({ length: MAX_DEPTH + 1 }, () => new Uint32Array(FANOUT));
const places = new Uint32Array(FANOUT);
const hashes = Array.from({ length: MAX_DEPTH + 1 }, () => new Uint8Array(FANOUT * TRIE_HASH_BYTES));
let order = new Uint32Array(1024);
let sorted = new Uint32Array(1024);

/**
 * Writes the hash of `count` entries into `out`: that of the node at depth `top`. The entries may be in any order, because
 * each level is sorted by its nibble.
 */
export function hashSubtrees(
  { bytes, width, base }: Entries,
  count: number,
  out: Uint8Array,
  writeLeaf: WriteLeaf,
  top = base,
): void {
  if (count > order.length) {
    const room = 2 ** Math.ceil(Math.log2(count));
    order = new Uint32Array(room);
    sorted = new Uint32Array(room);
  }
  for (let index = 0; index < count; index++) order[index] = index;
  hash(0, count, top, out, 0);

  function hash(from: number, to: number, at: number, target: Uint8Array, targetAt: number): void {
    if (writeLeaf(order[from] as number, to - from, at, target, targetAt)) return;
    const children = sizes[at] as Uint32Array;
    const childHashes = hashes[at] as Uint8Array;
    sortByNibble(from, to, at, children);
    let start = from;
    let length = 0;
    for (let nibble = 0; nibble < FANOUT; nibble++) {
      const size = children[nibble] as number;
      if (size === 0) continue;
      hash(start, start + size, at + 1, childHashes, length);
      start += size;
      length += TRIE_HASH_BYTES;
    }
    writeTrieHash(childHashes, length, target, targetAt);
  }

  function sortByNibble(from: number, to: number, at: number, children: Uint32Array): void {
    const offset = (at - base) >> 1;
    const shift = at & 1 ? 0 : 4;
    children.fill(0);
    for (let index = from; index < to; index++) {
      const nibble = ((bytes[(order[index] as number) * width + offset] as number) >> shift) & 15;
      children[nibble] = (children[nibble] as number) + 1;
    }
    if (to - from === 1) return;
    let start = from;
    for (let nibble = 0; nibble < FANOUT; nibble++) {
      places[nibble] = start;
      start += children[nibble] as number;
    }
    for (let index = from; index < to; index++) {
      const one = order[index] as number;
      const nibble = ((bytes[one * width + offset] as number) >> shift) & 15;
      const place = places[nibble] as number;
      sorted[place] = one;
      places[nibble] = place + 1;
    }
    order.set(sorted.subarray(from, to), from);
  }
}
