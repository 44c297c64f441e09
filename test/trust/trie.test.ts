import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { messageHash } from "../../src/protocol/message/message-hash.ts";
import { UserNameProof } from "../../src/protocol/wire/generated/message.ts";
import { AccountTrie, ShardTrie } from "../../src/trust/trie/trie.ts";
import {
  ACCOUNT_BYTES,
  fnameKey,
  keysOfMessage,
  messageKey,
  virtualShardOf,
} from "../../src/trust/trie-key.ts";
import { shardRootOf } from "../support/trie.ts";
import { vectorJson } from "../support/vectors.ts";

interface TrieCase {
  readonly name: string;
  readonly keys: readonly string[];
  readonly root: string;
  readonly account_roots: Readonly<Record<string, string>>;
}
const vectors = vectorJson<{
  virtual_shards: Record<string, number>;
  leaf_example: { key: string; preimage: string; hash: string };
  cases: TrieCase[];
}>("tries.json");
const fromHex = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"));

describe("a trie of the reference node has the same roots", () => {
  for (const { name, keys, root, account_roots: accountRoots } of vectors.cases) {
    test(name, () => {
      const { root: computed, accounts } = shardRootOf(keys.map(fromHex));
      expect(computed.toHex()).toBe(root);
      for (const [fid, expected] of Object.entries(accountRoots))
        expect(accounts.get(Number(fid))?.root.toHex()).toBe(expected);
    });
  }
});

test("an fid has the virtual shard that the reference node assigns", () => {
  for (const [fid, expected] of Object.entries(vectors.virtual_shards))
    expect(virtualShardOf(Number(fid))).toBe(expected);
});

test("a leaf is the hash of all nibbles of its key", () => {
  const { key, preimage, hash } = vectors.leaf_example;
  const nibbles = Uint8Array.from([...fromHex(key)].flatMap((byte) => [byte >> 4, byte & 15]));
  expect(nibbles.toHex()).toBe(preimage);
  expect(messageHash(nibbles).toHex()).toBe(hash);
});

describe("the root of an account", () => {
  const hashes = fc.uint8Array({ minLength: 20, maxLength: 20 });

  test("depends neither on the order of its keys nor on repetition", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 31 }), hashes), { minLength: 1, maxLength: 100 }),
        (messages) => {
          const keys = messages.map(([type, hash]) => messageKey(7, type, hash));
          const rootOf = (list: readonly Uint8Array[]) => {
            const trie = new AccountTrie();
            for (const key of list) trie.add(key);
            return trie.root();
          };
          expect(rootOf([...keys].reverse().concat(keys))).toEqual(rootOf(keys));
        },
      ),
    );
  });

  test("is that of a plain recursive trie", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat({ max: 300 }), hashes), { minLength: 1, maxLength: 60 }),
        (messages) => {
          const keys = messages.map(([fid, hash]) => messageKey(fid, 1, hash));
          expect(shardRootOf(keys).root.toHex()).toBe(plainRoot(keys)?.toHex() ?? "");
        },
      ),
    );
  });

  test("is kept apart from that of another account that is hashed with the same memory", () => {
    const trie = new AccountTrie();
    trie.add(messageKey(1, 1, new Uint8Array(20)));
    const first = trie.root();
    trie.clear();
    expect(trie.root()).toBeUndefined();
    trie.add(messageKey(1, 1, new Uint8Array(20)));
    expect(trie.root()).toEqual(first);
  });

  test("a key of more than 64 bytes is refused", () => {
    expect(() => new AccountTrie().add(new Uint8Array(65))).toThrow(RangeError);
  });
});

test("a shard without accounts has an empty root", () => {
  expect(new ShardTrie().root()).toEqual(new Uint8Array());
});

test("a lend has a key under its lender and under its borrower", () => {
  const hash = new Uint8Array(20).fill(7);
  expect(keysOfMessage({ fid: 1, type: 15, hash, toFid: 2 })).toEqual([
    messageKey(1, 15, hash),
    messageKey(2, 15, hash),
  ]);
});

test("released names, names longer than 20 bytes and other bytes have no key", () => {
  const keyOf = (fid: number, name: string) => {
    const bytes = new Uint8Array();
    const proof = { fid, name: Buffer.from(name), type: 1, owner: bytes, signature: bytes, timestamp: 1 };
    return fnameKey(UserNameProof.encode(proof).finish());
  };
  expect(keyOf(0, "name")).toBeUndefined();
  expect(keyOf(1, "n".repeat(21))).toBeUndefined();
  expect(keyOf(1, "name")?.length).toBe(26);
  expect(fnameKey(Uint8Array.of(255))).toBeUndefined();
});

/** The definition of the root, as slow as it is short. */
function plainRoot(keys: readonly Uint8Array[]): Uint8Array | undefined {
  const unique = [
    ...new Map(
      keys.map((key) => [key.toHex(), [...key.toHex()].map((digit) => Number.parseInt(digit, 16))]),
    ).values(),
  ];
  const hash = (entries: readonly number[][], depth: number): Uint8Array => {
    const [first] = entries;
    if (first && entries.length === 1 && depth >= 2 * ACCOUNT_BYTES + 2)
      return messageHash(Uint8Array.from(first));
    const children: Uint8Array[] = [];
    for (let nibble = 0; nibble < 16; nibble++) {
      const below = entries.filter((entry) => entry[depth] === nibble);
      if (below.length > 0) children.push(hash(below, depth + 1));
    }
    return messageHash(Buffer.concat(children));
  };
  return unique.length === 0 ? undefined : hash(unique, 0);
}
