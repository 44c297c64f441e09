import { TRIE_HASH_BYTES } from "../protocol/message/message-hash.ts";
import { nodeHash, type OpaqueChild } from "./trie.ts";
import { ACCOUNT_BYTES } from "./trie-key.ts";

/** A child of a node of a trie: its last nibble, its hash, the number of its keys. */
export type PathChild = OpaqueChild;

/** The nodes of a shard's trie that lead to an account, as another node says: the children of each prefix of whole bytes. */
export type PathNodes = ReadonlyMap<string, readonly PathChild[]>;

/** What a trie with a signed root has of an account. */
export interface ProvenAccount {
  /** The shard's. */
  readonly shardRoot: Uint8Array;
  /** Empty for an account without keys. */
  readonly root: Uint8Array;
  readonly children: readonly PathChild[];
}

/**
 * Returns the prefixes of whole bytes whose nodes lead to an account: those of the account itself, and their siblings below the same
 * nibble. 81 at most.
 */
export function prefixesOfPath(account: Uint8Array): Uint8Array[] {
  const prefixes = [new Uint8Array()];
  for (let depth = 0; depth < ACCOUNT_BYTES; depth++) {
    const above = account.subarray(0, depth);
    const high = (account[depth] as number) & 0xf0;
    for (let low = 0; low < 16; low++) prefixes.push(Buffer.concat([above, Uint8Array.of(high | low)]));
  }
  return prefixes;
}

/**
 * Computes the roots of a shard and of an account from the nodes that lead to it. The nodes may be made up: the account is still what the shard
 * has if `shardRoot` is the signed root. Undefined for nodes that contradict each other.
 */
export function accountOnPath(account: Uint8Array, nodes: PathNodes): ProvenAccount | undefined {
  const childrenOf = (prefix: Uint8Array) => nodes.get(prefix.toHex()) ?? [];
  let hash = nodeOf(childrenOf(account));
  const root = hash;
  for (let depth = ACCOUNT_BYTES - 1; depth >= 0; depth--) {
    const above = account.subarray(0, depth);
    const byte = account[depth] as number;
    const siblings: Uint8Array[] = [];
    for (let low = 0; low < 16; low++) {
      const sibling = (byte & 0xf0) | low;
      siblings.push(
        sibling === byte ? hash : nodeOf(childrenOf(Buffer.concat([above, Uint8Array.of(sibling)]))),
      );
    }
    const below = hashAbove(siblings);
    const children = childrenOf(above);
    const named = children.find(({ nibble }) => nibble === byte >> 4)?.root ?? new Uint8Array();
    if (Buffer.compare(named, below) !== 0) return undefined;
    hash = nodeOf(children);
  }
  return { shardRoot: hash, root, children: childrenOf(account) };
}

/** Returns the hash of a node from its children; empty for one without any. */
export function nodeOf(children: readonly PathChild[]): Uint8Array {
  return hashAbove(children.toSorted((a, b) => a.nibble - b.nibble).map(({ root }) => root));
}

/** Empty for a node without children. */
function hashAbove(hashes: readonly Uint8Array[]): Uint8Array {
  const present = hashes.filter(({ length }) => length === TRIE_HASH_BYTES);
  return present.length === 0 ? new Uint8Array() : nodeHash(present);
}
