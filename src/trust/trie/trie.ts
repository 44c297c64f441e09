import { TRIE_HASH_BYTES, writeTrieHash } from "../../protocol/message/message-hash.ts";
import { ACCOUNT_BYTES, MAX_KEY_BYTES, type TrieKey } from "../trie-key.ts";
import { doubled, FANOUT, hashSubtrees, type WriteLeaf } from "./hash-subtrees.ts";
import type { KindKeys } from "./kept-kind.ts";
import { ACCOUNT_DEPTH, KIND_DEPTH, LeafHashes } from "./leaf-hashes.ts";

const EMPTY = new Uint8Array();

/** The root of an account's subtree, with the number of its keys. */
export interface AccountRoot {
  /** Virtual shard and fid. */
  readonly prefix: Uint8Array;
  readonly root: Uint8Array;
  readonly keys: number;
}

/** The subtree of the keys of one kind of an account. */
export interface KindRoot {
  readonly kind: number;
  readonly root: Uint8Array;
  readonly keys: number;
}

/** A child of an account whose keys are not known: all kinds with this high nibble. */
export interface OpaqueChild {
  readonly nibble: number;
  readonly root: Uint8Array;
  readonly keys: number;
}

/** Returns the hash of a node with at least one child. The children are in the order of their nibbles. */
export function nodeHash(children: readonly Uint8Array[]): Uint8Array {
  const hash = new Uint8Array(TRIE_HASH_BYTES);
  writeTrieHash(Buffer.concat(children), children.length * TRIE_HASH_BYTES, hash, 0);
  return hash;
}

/** Returns the child of an account above its kinds with a high nibble; undefined if there are none. */
export function childOf(nibble: number, kinds: readonly KindRoot[]): OpaqueChild | undefined {
  const own = kinds.filter(({ kind }) => kind >> 4 === nibble);
  if (own.length === 0) return undefined;
  return {
    nibble,
    root: nodeHash(own.map(({ root }) => root)),
    keys: own.reduce((sum, { keys }) => sum + keys, 0),
  };
}

/**
 * Returns the root of an account and the number of its keys from the subtrees of its kinds, in ascending order; undefined if
 * there are none. An opaque child stands for all kinds with its nibble.
 */
export function accountRootOf(
  kinds: readonly KindRoot[],
  opaque: readonly OpaqueChild[] = [],
): { readonly root: Uint8Array; readonly keys: number } | undefined {
  let keys = 0;
  const children = new Uint8Array(FANOUT * TRIE_HASH_BYTES);
  const below = new Uint8Array(FANOUT * TRIE_HASH_BYTES);
  let length = 0;
  for (let nibble = 0; nibble < FANOUT; nibble++) {
    const hidden = opaque.find((child) => child.nibble === nibble);
    if (hidden) {
      children.set(hidden.root, length);
      length += TRIE_HASH_BYTES;
      keys += hidden.keys;
      continue;
    }
    let lengthBelow = 0;
    for (const kind of kinds) {
      if (kind.kind >> 4 !== nibble) continue;
      below.set(kind.root, lengthBelow);
      lengthBelow += TRIE_HASH_BYTES;
      keys += kind.keys;
    }
    if (lengthBelow === 0) continue;
    writeTrieHash(below, lengthBelow, children, length);
    length += TRIE_HASH_BYTES;
  }
  if (length === 0) return undefined;
  const root = new Uint8Array(TRIE_HASH_BYTES);
  writeTrieHash(children, length, root, 0);
  return { root, keys };
}

/** The keys of one kind of an account, without the account and kind, in flat memory. They may be added in any order. */
export class KindTrie {
  #bytes = new Uint8Array(64 * TRIE_HASH_BYTES);
  #width = 0;
  #count = 0;
  #account: Uint8Array = EMPTY;
  #kind = 0;
  readonly #leaves = new LeafHashes();

  /** Starts a kind of an account without keys, reusing the memory of the previous one. */
  start(account: Uint8Array, kind: number): void {
    this.#count = 0;
    this.#account = account;
    this.#kind = kind;
  }

  /** Adds the part of a key after its kind. All keys of a kind have the same length. */
  add(rest: Uint8Array): void {
    if (this.#count === 0) this.#width = rest.length;
    if (rest.length !== this.#width || rest.length > MAX_KEY_BYTES - ACCOUNT_BYTES - 1)
      throw new RangeError(`a key has ${rest.length} bytes after its kind`);
    const at = this.#count * this.#width;
    if (at + this.#width > this.#bytes.length) this.#bytes = doubled(this.#bytes);
    this.#bytes.set(rest, at);
    this.#count += 1;
  }

  /** Returns the root of the subtree and the number of distinct keys; undefined if there are none. */
  root(): { readonly root: Uint8Array; readonly keys: number } | undefined {
    if (this.#count === 0) return undefined;
    const root = new Uint8Array(TRIE_HASH_BYTES);
    this.#hash(root);
    if (this.#leaves.isRepeated) {
      this.#dropRepeated();
      this.#hash(root);
    }
    return { root, keys: this.#count };
  }

  /** Returns the keys, from which `root` has removed repetitions. They are valid until the next ones are added. */
  keys(): KindKeys {
    return {
      account: this.#account,
      kind: this.#kind,
      width: this.#width,
      bytes: this.#bytes,
      count: this.#count,
    };
  }

  #hash(out: Uint8Array): void {
    const entries = { bytes: this.#bytes, width: this.#width, base: KIND_DEPTH };
    this.#leaves.start(this.#account, this.#kind);
    hashSubtrees(entries, this.#count, out, this.#leaves.writerOf(this.#bytes, this.#width));
  }

  #dropRepeated(): void {
    const seen = new Set<string>();
    let kept = 0;
    for (let one = 0; one < this.#count; one++) {
      const key = this.#bytes.slice(one * this.#width, (one + 1) * this.#width);
      const name = key.toHex();
      if (seen.has(name)) continue;
      seen.add(name);
      this.#bytes.set(key, kept * this.#width);
      kept += 1;
    }
    this.#count = kept;
  }
}

/** The keys of one account. They may be added in any order; a key that is added again counts once. */
export class AccountTrie {
  readonly #kinds = new Map<number, KindTrie>();
  readonly #free: KindTrie[] = [];

  /** Removes all keys but keeps the memory. */
  clear(): void {
    this.#free.push(...this.#kinds.values());
    this.#kinds.clear();
  }

  add(key: TrieKey): void {
    if (key.length > MAX_KEY_BYTES) throw new RangeError(`a key has ${key.length} bytes`);
    const kind = key[ACCOUNT_BYTES] as number;
    let trie = this.#kinds.get(kind);
    if (!trie) {
      trie = this.#free.pop() ?? new KindTrie();
      trie.start(key.subarray(0, ACCOUNT_BYTES), kind);
      this.#kinds.set(kind, trie);
    }
    trie.add(key.subarray(ACCOUNT_BYTES + 1));
  }

  /**
   * Returns the root of the account and the number of its distinct keys; undefined if there are none.
   *
   * @param opaque children below which no key was added.
   */
  root(
    opaque: readonly OpaqueChild[] = [],
  ): { readonly root: Uint8Array; readonly keys: number } | undefined {
    const kinds = [...this.#kinds].flatMap(([kind, trie]) => {
      const computed = trie.root();
      return computed ? [{ kind, ...computed }] : [];
    });
    return accountRootOf(
      kinds.sort((a, b) => a.kind - b.kind),
      opaque,
    );
  }
}

/** The upper levels of a shard's trie: the roots of its accounts, in flat memory. */
export class ShardTrie {
  #prefixes = new Uint8Array(64 * ACCOUNT_BYTES);
  #roots = new Uint8Array(64 * TRIE_HASH_BYTES);
  #count = 0;

  /** Adds an account. Each must be added only once, in any order. */
  add({ prefix, root }: Pick<AccountRoot, "prefix" | "root">): void {
    if (this.#count * TRIE_HASH_BYTES === this.#roots.length) {
      this.#prefixes = doubled(this.#prefixes);
      this.#roots = doubled(this.#roots);
    }
    this.#prefixes.set(prefix, this.#count * ACCOUNT_BYTES);
    this.#roots.set(root, this.#count * TRIE_HASH_BYTES);
    this.#count += 1;
  }

  /** Returns the root of the shard; empty without accounts. */
  root(): Uint8Array {
    return subtreeOf(this.#prefixes, this.#roots, this.#count, { top: 0, bottom: ACCOUNT_DEPTH });
  }
}

/** The depth of the root of a part of the trie, and the depth of the nodes whose hashes are known. */
export interface Levels {
  readonly top: number;
  readonly bottom: number;
}

/** A node of the upper levels. All keys below it start with the nibbles of `prefix` down to its depth. */
export type UpperNode = Pick<AccountRoot, "prefix" | "root">;

/** Returns the hash of the node at depth `top` above nodes at depth `bottom`; empty if there are none. */
export function rootAbove(nodes: readonly UpperNode[], levels: Levels): Uint8Array {
  const prefixes = new Uint8Array(nodes.length * ACCOUNT_BYTES);
  const roots = new Uint8Array(nodes.length * TRIE_HASH_BYTES);
  for (const [index, { prefix, root }] of nodes.entries()) {
    prefixes.set(prefix, index * ACCOUNT_BYTES);
    roots.set(root, index * TRIE_HASH_BYTES);
  }
  return subtreeOf(prefixes, roots, nodes.length, levels);
}

function subtreeOf(
  prefixes: Uint8Array,
  roots: Uint8Array,
  count: number,
  { top, bottom }: Levels,
): Uint8Array {
  if (count === 0) return EMPTY;
  const root = new Uint8Array(TRIE_HASH_BYTES);
  const entries = { bytes: prefixes, width: ACCOUNT_BYTES, base: 0 };
  const writeNode: WriteLeaf = (one, _count, at, out, outAt) => {
    if (at < bottom) return false;
    const start = one * TRIE_HASH_BYTES;
    out.set(roots.subarray(start, start + TRIE_HASH_BYTES), outAt);
    return true;
  };
  hashSubtrees(entries, count, root, writeNode, top);
  return root;
}
