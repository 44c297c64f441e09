import { TRIE_HASH_BYTES } from "../protocol/message/message-hash.ts";
import { nodeHash, type OpaqueChild } from "./trie/trie.ts";
import { ACCOUNT_BYTES } from "./trie-key.ts";

/** A child of a node of a trie: its last nibble, its hash, and the number of its keys. */
export type PathChild = OpaqueChild;

/**
 * The nodes of a shard's trie that lead to an account, as reported by another node: the children of each prefix of whole
 * bytes.
 */
export type PathNodes = ReadonlyMap<string, readonly PathChild[]>;

/** The state of an account in a trie with a signed root. */
export interface ProvenAccount {
  /** Root of the shard. */
  readonly shardRoot: Uint8Array;
  /** Empty for an account without keys. */
  readonly root: Uint8Array;
  readonly children: readonly PathChild[];
}

/** The node above all accounts. */
export const TOP = new Uint8Array();

/**
 * Returns the prefixes of whole bytes whose nodes lead to an account, below `TOP`: for each byte of the account its node,
 * and that node's siblings below the same nibble.
 */
export function levelsOfPath(account: Uint8Array): Uint8Array[][] {
  return Array.from({ length: ACCOUNT_BYTES }, (_, depth) => {
    const above = account.subarray(0, depth);
    const high = (account[depth] as number) & 0xf0;
    return Array.from({ length: 16 }, (_, low) => Buffer.concat([above, Uint8Array.of(high | low)]));
  });
}

/** Reports whether the nodes of a level of `levelsOfPath` have the hash that the node above them names. */
export function isChained(account: Uint8Array, nodes: PathNodes, depth: number): boolean {
  const childrenOf = (prefix: Uint8Array) => nodes.get(prefix.toHex()) ?? [];
  const level = levelsOfPath(account)[depth] ?? [];
  const nibble = (account[depth] as number) >> 4;
  const named = childrenOf(account.subarray(0, depth)).find((child) => child.nibble === nibble)?.root;
  return (
    Buffer.compare(named ?? new Uint8Array(), hashAbove(level.map((one) => nodeOf(childrenOf(one))))) === 0
  );
}

/**
 * Computes the roots of a shard and of an account from the nodes that lead to it. The nodes may be made up, but if
 * `shardRoot` is the signed root, the account is as the shard has it. Undefined for nodes that contradict each other.
 */
export function accountOnPath(account: Uint8Array, nodes: PathNodes): ProvenAccount | undefined {
  for (let depth = 0; depth < ACCOUNT_BYTES; depth++) if (!isChained(account, nodes, depth)) return undefined;
  const children = nodes.get(account.toHex()) ?? [];
  return { shardRoot: nodeOf(nodes.get(TOP.toHex()) ?? []), root: nodeOf(children), children };
}

/** Returns the hash of a node from its children; empty if it has none. */
export function nodeOf(children: readonly PathChild[]): Uint8Array {
  return hashAbove(children.toSorted((a, b) => a.nibble - b.nibble).map(({ root }) => root));
}

/** Returns the hash above children; empty for a node without any. */
function hashAbove(hashes: readonly Uint8Array[]): Uint8Array {
  const present = hashes.filter(({ length }) => length === TRIE_HASH_BYTES);
  return present.length === 0 ? new Uint8Array() : nodeHash(present);
}
