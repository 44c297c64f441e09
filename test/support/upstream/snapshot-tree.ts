import { messageHash } from "../../../src/protocol/message/message-hash.ts";
import type { SnapshotEntry, SnapshotPage, TrieNode } from "../../../src/protocol/wire/generated/snapshot.ts";
import { decodePageToken, encodePageToken } from "../../../src/trust/page-token.ts";
import { type AccountRoot, AccountTrie, ShardTrie } from "../../../src/trust/trie/trie.ts";
import { ACCOUNT_BYTES, fidOfKey, kindOfKey } from "../../../src/trust/trie-key.ts";

const MESSAGES_PER_PAGE = 1000;
/** From this depth on, a subtree with one key is a leaf. */
const LEAF_DEPTH = 12;
const KEY_KINDS = [0x80, 0x88];

/** Why a page cannot be served, in the words of the reference node. */
export class UnservedPage extends Error {}

/** The subtree of the entries `from` to `to`, which share `depth` nibbles. */
interface Subtree {
  readonly from: number;
  readonly to: number;
  readonly depth: number;
}

/** A snapshot of a data shard that is walked through as the reference node does, by the tokens of that node. */
export class SnapshotTree {
  readonly #entries: readonly SnapshotEntry[];
  readonly #accounts = new Map<number, AccountRoot>();
  readonly #root: Uint8Array;

  constructor(entries: readonly SnapshotEntry[]) {
    this.#entries = entries.toSorted((a, b) => Buffer.compare(a.key, b.key));
    const shard = new ShardTrie();
    const account = new AccountTrie();
    for (const [at, { key }] of this.#entries.entries()) {
      account.add(key);
      const next = this.#entries[at + 1];
      if (next && fidOfKey(next.key) === fidOfKey(key)) continue;
      const root = account.root();
      if (root) this.#accounts.set(fidOfKey(key), { prefix: key.slice(0, ACCOUNT_BYTES), ...root });
      account.clear();
    }
    for (const root of this.#accounts.values()) shard.add(root);
    this.#root = shard.root();
  }

  get root(): Uint8Array {
    return this.#root;
  }

  get keys(): number {
    return this.#entries.length;
  }

  accountRoot(fid: number): Uint8Array | undefined {
    return this.#accounts.get(fid)?.root;
  }

  /** @throws UnservedPage if the page has a message of a gasless key, or the token names a child that is not there. */
  page(virtualShard: number, token: string | undefined, perPage = MESSAGES_PER_PAGE): SnapshotPage {
    const entries: SnapshotEntry[] = [];
    const walk = decodePageToken(token ?? "");
    if (token && !walk) throw new UnservedPage("Invalid page token");
    const top = [virtualShard >> 4, virtualShard & 15];
    let path: number[] = [...(walk?.path ?? [])];
    let levels: number[][] = (walk?.levels ?? []).map((level) => [...level]);
    if (!walk) {
      const subtree = this.#find(top);
      if (!subtree) return { entries: [], accounts: [], nextPageToken: undefined };
      levels = [this.#childrenOf(subtree)];
    }
    // For each level, the subtree whose children it has.
    const parents = levels.map((_, depth) => this.#find([...top, ...path.slice(0, depth)]));
    let nextPageToken: string | undefined;
    for (;;) {
      if (entries.length >= perPage) {
        nextPageToken = encodePageToken({ path, levels });
        break;
      }
      const left = levels.at(-1);
      if (!left) break;
      const next = left.pop();
      if (next === undefined) {
        levels.pop();
        parents.pop();
        path = path.slice(0, -1);
        continue;
      }
      const parent = parents.at(-1);
      const subtree = parent && this.#childOf(parent, next);
      if (!subtree) throw new UnservedPage("Node not found");
      if (subtree.to - subtree.from === 1 && subtree.depth >= LEAF_DEPTH) {
        entries.push(this.#entries[subtree.from] as SnapshotEntry);
      } else {
        path = [...path, next];
        parents.push(subtree);
        levels.push(this.#childrenOf(subtree));
      }
    }
    const unserved = entries.find(({ key }) => KEY_KINDS.includes(kindOfKey(key)));
    if (unserved) throw new UnservedPage(`Invalid message type for FID ${fidOfKey(unserved.key)}: KeyAdd`);
    const fids = new Set(entries.map(({ key }) => fidOfKey(key)));
    const accounts = [...fids].flatMap((fid) => {
      const account = this.#accounts.get(fid);
      return account ? [{ fid, root: account.root, keys: account.keys }] : [];
    });
    return { entries, accounts, nextPageToken };
  }

  /** The node of whole bytes, as it is in this snapshot. */
  node(prefix: Uint8Array): TrieNode {
    const path = [...prefix].flatMap((byte) => [byte >> 4, byte & 15]);
    const subtree = this.#find(path);
    const children = subtree ? this.#childrenOf(subtree) : [];
    return {
      children: children.map((nibble) => {
        const child = this.#find([...path, nibble]) as Subtree;
        const hash = this.#hash(child).toHex();
        return { prefix: Uint8Array.from([...path, nibble]), keys: child.to - child.from, hash };
      }),
    };
  }

  #hash(subtree: Subtree): Uint8Array {
    const { from, to, depth } = subtree;
    const first = this.#entries[from] as SnapshotEntry;
    if (to - from === 1 && depth >= LEAF_DEPTH) return messageHash(Uint8Array.from(nibblesOf(first.key)));
    const path = nibblesOf(first.key).slice(0, depth);
    const hashes = this.#childrenOf(subtree)
      .toReversed()
      .map((nibble) => this.#hash(this.#find([...path, nibble]) as Subtree));
    return messageHash(Buffer.concat(hashes));
  }

  /** Descending, as a token has them. */
  #childrenOf({ from, to, depth }: Subtree): number[] {
    const children: number[] = [];
    for (let at = from; at < to; ) {
      const nibble = nibbleAt((this.#entries[at] as SnapshotEntry).key, depth);
      children.unshift(nibble);
      at = this.#lowerBound(at, to, depth, nibble + 1);
    }
    return children;
  }

  #find(path: readonly number[]): Subtree | undefined {
    let found: Subtree | undefined = { from: 0, to: this.#entries.length, depth: 0 };
    for (const nibble of path) found = found && this.#childOf(found, nibble);
    return found;
  }

  #childOf({ from, to, depth }: Subtree, nibble: number): Subtree | undefined {
    const start = this.#lowerBound(from, to, depth, nibble);
    const end = this.#lowerBound(start, to, depth, nibble + 1);
    return start < end ? { from: start, to: end, depth: depth + 1 } : undefined;
  }

  /** The first of the entries `from` to `to`, which share `depth` nibbles, whose next nibble is at least `nibble`. */
  #lowerBound(from: number, to: number, depth: number, nibble: number): number {
    let [low, high] = [from, to];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (nibbleAt((this.#entries[middle] as SnapshotEntry).key, depth) < nibble) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function nibbleAt(key: Uint8Array, depth: number): number {
  const byte = key[depth >> 1] ?? 0;
  return depth % 2 === 0 ? byte >> 4 : byte & 15;
}

function nibblesOf(key: Uint8Array): number[] {
  return [...key].flatMap((byte) => [byte >> 4, byte & 15]);
}
