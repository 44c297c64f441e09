import { TRIE_HASH_BYTES, writeTrieHash } from "../protocol/message-hash.ts";
import { ACCOUNT_BYTES, MAX_KEY_BYTES, type TrieKey } from "./trie-key.ts";

/** The depth, in nibbles, at which the subtree of an account begins. */
const ACCOUNT_DEPTH = 2 * ACCOUNT_BYTES;
/** From this depth on, a subtree with one key is a leaf. Above it, it is a chain of nodes with one child. */
const LEAF_DEPTH = ACCOUNT_DEPTH + 2;
const FANOUT = 16;
const MAX_DEPTH = 2 * MAX_KEY_BYTES;
const EMPTY = new Uint8Array();

/** The root of an account's subtree, and the number of its keys. */
export interface AccountRoot {
  /** Virtual shard and fid. */
  readonly prefix: Uint8Array;
  readonly root: Uint8Array;
  readonly keys: number;
}

/** The keys of one account. They are added in any order; one that is added again counts once. */
export class AccountTrie {
  #nibbles = new Uint8Array(64 * MAX_DEPTH);
  #lengths = new Uint8Array(64);
  #count = 0;

  /** Removes all keys and keeps the memory. */
  clear(): void {
    this.#count = 0;
  }

  add(key: TrieKey): void {
    if (key.length > MAX_KEY_BYTES) throw new RangeError(`a key has ${key.length} bytes`);
    if (this.#count === this.#lengths.length) this.#grow();
    let at = this.#count * MAX_DEPTH;
    for (const byte of key) {
      this.#nibbles[at++] = byte >> 4;
      this.#nibbles[at++] = byte & 15;
    }
    this.#lengths[this.#count++] = 2 * key.length;
  }

  /** Returns the root of the account and the number of its different keys; undefined without a key. */
  root(): { readonly root: Uint8Array; readonly keys: number } | undefined {
    if (this.#count === 0) return undefined;
    const root = new Uint8Array(TRIE_HASH_BYTES);
    if (this.#hash(root)) {
      this.#dropRepeated();
      this.#hash(root);
    }
    return { root, keys: this.#count };
  }

  /** Returns whether keys are repeated, which makes the root wrong. */
  #hash(out: Uint8Array): boolean {
    let isRepeated = false;
    const entries = { nibbles: this.#nibbles, stride: MAX_DEPTH };
    hashSubtrees(entries, this.#count, ACCOUNT_DEPTH, out, (one, count, depth, target, at) => {
      const length = this.#lengths[one] as number;
      if (depth < length && (count > 1 || depth < LEAF_DEPTH)) return false;
      if (count > 1) isRepeated = true;
      const start = one * MAX_DEPTH;
      writeTrieHash(this.#nibbles.subarray(start, start + length), target, at);
      return true;
    });
    return isRepeated;
  }

  #dropRepeated(): void {
    const seen = new Set<string>();
    let kept = 0;
    for (let one = 0; one < this.#count; one++) {
      const length = this.#lengths[one] as number;
      const key = this.#nibbles.slice(one * MAX_DEPTH, one * MAX_DEPTH + length);
      const name = key.toHex();
      if (seen.has(name)) continue;
      seen.add(name);
      this.#nibbles.set(key, kept * MAX_DEPTH);
      this.#lengths[kept++] = length;
    }
    this.#count = kept;
  }

  #grow(): void {
    const nibbles = new Uint8Array(2 * this.#nibbles.length);
    nibbles.set(this.#nibbles);
    this.#nibbles = nibbles;
    const lengths = new Uint8Array(2 * this.#lengths.length);
    lengths.set(this.#lengths);
    this.#lengths = lengths;
  }
}

/** The upper levels of a shard's trie: the roots of its accounts, in flat memory. */
export class ShardTrie {
  #nibbles = new Uint8Array(64 * ACCOUNT_DEPTH);
  #roots = new Uint8Array(64 * TRIE_HASH_BYTES);
  #count = 0;

  /** Adds an account, each once, in any order. */
  add({ prefix, root }: Pick<AccountRoot, "prefix" | "root">): void {
    if (this.#count * TRIE_HASH_BYTES === this.#roots.length) this.#grow();
    let at = this.#count * ACCOUNT_DEPTH;
    for (const byte of prefix) {
      this.#nibbles[at++] = byte >> 4;
      this.#nibbles[at++] = byte & 15;
    }
    this.#roots.set(root, this.#count * TRIE_HASH_BYTES);
    this.#count += 1;
  }

  /** Returns the root of the shard; empty without accounts. */
  root(): Uint8Array {
    if (this.#count === 0) return EMPTY;
    const root = new Uint8Array(TRIE_HASH_BYTES);
    const entries = { nibbles: this.#nibbles, stride: ACCOUNT_DEPTH };
    hashSubtrees(entries, this.#count, 0, root, (one, _count, depth, out, at) => {
      if (depth < ACCOUNT_DEPTH) return false;
      const start = one * TRIE_HASH_BYTES;
      out.set(this.#roots.subarray(start, start + TRIE_HASH_BYTES), at);
      return true;
    });
    return root;
  }

  #grow(): void {
    const nibbles = new Uint8Array(2 * this.#nibbles.length);
    nibbles.set(this.#nibbles);
    this.#nibbles = nibbles;
    const roots = new Uint8Array(2 * this.#roots.length);
    roots.set(this.#roots);
    this.#roots = roots;
  }
}

/** Entries of `stride` nibbles each. */
interface Entries {
  readonly nibbles: Uint8Array;
  readonly stride: number;
}

/**
 * Writes the hash of a subtree that is not divided further: that of entry `one`, which is one of `count`. Returns false if the
 * subtree is an inner node.
 */
type WriteLeaf = (one: number, count: number, depth: number, out: Uint8Array, at: number) => boolean;

/** Hashing is synchronous, so all tries share these: for each depth, the sizes of the children and their hashes. */
const sizes = Array.from({ length: MAX_DEPTH + 1 }, () => new Uint32Array(FANOUT));
const hashes = Array.from({ length: MAX_DEPTH + 1 }, () => new Uint8Array(FANOUT * TRIE_HASH_BYTES));

/** Writes the hash of `count` entries below `depth` into `out`. The entries need no order: each level is sorted by its nibble. */
function hashSubtrees(
  { nibbles, stride }: Entries,
  count: number,
  depth: number,
  out: Uint8Array,
  writeLeaf: WriteLeaf,
): void {
  const order = new Uint32Array(count);
  const sorted = new Uint32Array(count);
  for (let index = 0; index < count; index++) order[index] = index;
  hash(0, count, depth, out, 0);

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
    writeTrieHash(childHashes.subarray(0, length), target, targetAt);
  }

  function sortByNibble(from: number, to: number, at: number, children: Uint32Array): void {
    children.fill(0);
    for (let index = from; index < to; index++) {
      const nibble = nibbles[(order[index] as number) * stride + at] as number;
      children[nibble] = (children[nibble] as number) + 1;
    }
    if (children[nibbles[(order[from] as number) * stride + at] as number] === to - from) return;
    let start = from;
    const next = new Uint32Array(FANOUT);
    for (let nibble = 0; nibble < FANOUT; nibble++) {
      next[nibble] = start;
      start += children[nibble] as number;
    }
    for (let index = from; index < to; index++) {
      const one = order[index] as number;
      const nibble = nibbles[one * stride + at] as number;
      const place = next[nibble] as number;
      sorted[place] = one;
      next[nibble] = place + 1;
    }
    order.set(sorted.subarray(from, to), from);
  }
}
