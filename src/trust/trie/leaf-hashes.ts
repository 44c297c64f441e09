import { writeTrieHash } from "../../protocol/message/message-hash.ts";
import { ACCOUNT_BYTES } from "../trie-key.ts";
import { MAX_DEPTH, type WriteLeaf, writeNibbles } from "./hash-subtrees.ts";

/** Depth, in nibbles, at which the subtree of an account starts. */
export const ACCOUNT_DEPTH = 2 * ACCOUNT_BYTES;
/**
 * Depth of the subtree of one kind of an account. From here on, a subtree with one key is a leaf; above, it is a chain of
 * nodes with one child.
 */
export const KIND_DEPTH = ACCOUNT_DEPTH + 2;

/** Hashes the leaves of one kind of an account. */
export class LeafHashes {
  /** Whether a key was added more than once, which makes the hashes above it wrong. */
  isRepeated = false;
  /** The nibbles of one key, starting with those of the account and kind. */
  readonly #preimage = new Uint8Array(MAX_DEPTH);

  start(account: Uint8Array, kind: number): void {
    writeNibbles(account, 0, account.length, this.#preimage, 0);
    this.#preimage[ACCOUNT_DEPTH] = kind >> 4;
    this.#preimage[ACCOUNT_DEPTH + 1] = kind & 15;
    this.isRepeated = false;
  }

  /** @param bytes the part after the kind of each key, `width` bytes each. */
  writerOf(bytes: Uint8Array, width: number): WriteLeaf {
    const end = KIND_DEPTH + 2 * width;
    return (one, count, depth, out, at) => {
      if (depth < end && count > 1) return false;
      if (count > 1) this.isRepeated = true;
      writeNibbles(bytes, one * width, width, this.#preimage, KIND_DEPTH);
      writeTrieHash(this.#preimage, end, out, at);
      return true;
    };
  }
}
