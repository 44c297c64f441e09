import { TRIE_HASH_BYTES, writeTrieHash } from "../../protocol/message/message-hash.ts";
import { doubled, FANOUT, hashSubtrees } from "./hash-subtrees.ts";
import { KIND_DEPTH, LeafHashes } from "./leaf-hashes.ts";

const GROUPS = FANOUT * FANOUT;
/** With fewer keys, hashing all of them takes about as long as combining the hashes of groups. */
const MIN_GROUPED = 64;

/** The keys of one kind of an account: the distinct parts after the kind, one after another. */
export interface KindKeys {
  readonly account: Uint8Array;
  readonly kind: number;
  /** Bytes of a key after its kind. */
  readonly width: number;
  readonly bytes: Uint8Array;
  readonly count: number;
}

/** Hashing is synchronous, so all kinds share it. */
const children = new Uint8Array(FANOUT * TRIE_HASH_BYTES);

/**
 * The keys of one kind of an account, kept with the hashes of their subtrees. After a change, only the subtree of the
 * changed key's first byte is hashed again, and the two nodes above it.
 */
export class KeptKind {
  readonly #width: number;
  readonly #leaves = new LeafHashes();
  /** In the order of their groups. */
  #bytes: Uint8Array;
  /** Where each group starts, counted in keys, followed by the end of the last one. A small kind is one group. */
  readonly #starts: Uint32Array;
  readonly #hashes: Uint8Array;
  readonly #stale: Uint8Array;
  /** The hashes of the nodes between the groups and the root, by nibble. */
  readonly #upper: Uint8Array;

  constructor({ account, kind, width, bytes, count }: KindKeys) {
    const groups = count < MIN_GROUPED ? 1 : GROUPS;
    this.#width = width;
    this.#leaves.start(account, kind);
    this.#starts = new Uint32Array(groups + 1);
    this.#hashes = new Uint8Array(groups * TRIE_HASH_BYTES);
    this.#stale = new Uint8Array(groups).fill(1);
    this.#upper = new Uint8Array(groups === 1 ? 0 : FANOUT * TRIE_HASH_BYTES);
    this.#bytes = new Uint8Array(Math.ceil(1.25 * count + 4) * width);
    const ends = this.#starts;
    for (let one = 0; one < count; one++) ends[this.#groupOf(bytes, one * width) + 1]! += 1;
    for (let group = 0; group < groups; group++) ends[group + 1]! += ends[group]!;
    const next = this.#starts.slice();
    for (let one = 0; one < count; one++) {
      const at = one * width;
      const place = next[this.#groupOf(bytes, at)]!++;
      this.#bytes.set(bytes.subarray(at, at + width), place * width);
    }
  }

  /** Memory that it occupies, in bytes. */
  get size(): number {
    return this.#bytes.length + this.#hashes.length + this.#upper.length + 5 * this.#stale.length + 300;
  }

  get keys(): number {
    return this.#starts.at(-1) as number;
  }

  /** Whether dividing the keys of a previously small kind into groups would make hashing faster. */
  get isOutgrown(): boolean {
    return this.#stale.length === 1 && this.keys > 4 * MIN_GROUPED;
  }

  /** Adds or removes a key, given by the part after its kind. */
  set(rest: Uint8Array, isPresent: boolean): void {
    if (rest.length !== this.#width) throw new RangeError(`a key has ${rest.length} bytes after its kind`);
    const [width, group, count] = [this.#width, this.#groupOf(rest, 0), this.keys];
    const end = this.#starts[group + 1] as number;
    const at = this.#find(rest, group);
    if (at < end === isPresent) return;
    if (isPresent) {
      if ((count + 1) * width > this.#bytes.length) this.#bytes = doubled(this.#bytes);
      this.#bytes.copyWithin((end + 1) * width, end * width, count * width);
      this.#bytes.set(rest, end * width);
    } else this.#bytes.copyWithin(at * width, (at + 1) * width, count * width);
    for (let later = group + 1; later < this.#starts.length; later++)
      this.#starts[later] = (this.#starts[later] as number) + (isPresent ? 1 : -1);
    this.#stale[group] = 1;
  }

  /** Returns the root of the kind and the number of its keys; undefined if it has none. */
  root(): { readonly root: Uint8Array; readonly keys: number } | undefined {
    if (this.keys === 0) return undefined;
    const root = new Uint8Array(TRIE_HASH_BYTES);
    if (this.#stale.length === 1) {
      if (this.#stale[0]) this.#hash(0);
      root.set(this.#hashes);
      return { root, keys: this.keys };
    }
    for (let nibble = 0; nibble < FANOUT; nibble++) this.#refresh(nibble);
    this.#combine(this.#upper, 0, FANOUT, root, 0);
    return { root, keys: this.keys };
  }

  /** Hashes what has changed below a child of the root. */
  #refresh(nibble: number): void {
    const first = nibble * FANOUT;
    let hasChanged = false;
    for (let group = first; group < first + FANOUT; group++) {
      if (!this.#stale[group]) continue;
      this.#hash(group);
      hasChanged = true;
    }
    if (hasChanged) this.#combine(this.#hashes, first, 1, this.#upper, nibble * TRIE_HASH_BYTES);
  }

  /**
   * Writes the hash of a node from those of its children, each of which has `span` groups, the first one starting at `from`.
   * A subtree with one key has the hash of its leaf, at any depth.
   */
  #combine(hashes: Uint8Array, from: number, span: number, out: Uint8Array, at: number): void {
    let length = 0;
    for (let nibble = 0; nibble < FANOUT; nibble++) {
      const group = from + nibble * span;
      if (this.#starts[group] === this.#starts[group + span]) continue;
      const start = (group / span) * TRIE_HASH_BYTES;
      for (let index = 0; index < TRIE_HASH_BYTES; index++)
        children[length + index] = hashes[start + index] as number;
      length += TRIE_HASH_BYTES;
    }
    const keys = (this.#starts[from + FANOUT * span] as number) - (this.#starts[from] as number);
    if (keys === 1) out.set(children.subarray(0, TRIE_HASH_BYTES), at);
    else if (keys > 1) writeTrieHash(children, length, out, at);
  }

  #hash(group: number): void {
    this.#stale[group] = 0;
    const from = this.#starts[group] as number;
    const count = (this.#starts[group + 1] as number) - from;
    if (count === 0) return;
    const bytes = this.#bytes.subarray(from * this.#width);
    const entries = { bytes, width: this.#width, base: KIND_DEPTH };
    const hash = this.#hashes.subarray(group * TRIE_HASH_BYTES);
    const top = this.#stale.length === 1 ? KIND_DEPTH : KIND_DEPTH + 2;
    hashSubtrees(entries, count, hash, this.#leaves.writerOf(bytes, this.#width), top);
  }

  /** Returns the position of the key in its group; the end of the group if it is not there. */
  #find(rest: Uint8Array, group: number): number {
    const end = this.#starts[group + 1] as number;
    for (let at = this.#starts[group] as number; at < end; at++) {
      const start = at * this.#width;
      if (this.#bytes[start] !== rest[0]) continue;
      if (Buffer.compare(this.#bytes.subarray(start, start + this.#width), rest) === 0) return at;
    }
    return end;
  }

  #groupOf(bytes: Uint8Array, at: number): number {
    return this.#starts.length === 2 ? 0 : (bytes[at] as number);
  }
}
