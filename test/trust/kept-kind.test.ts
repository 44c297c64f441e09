import { expect, test } from "bun:test";
import fc from "fast-check";
import { KeptKind } from "../../src/trust/trie/kept-kind.ts";
import { KindTrie } from "../../src/trust/trie/trie.ts";
import { accountPrefix } from "../../src/trust/trie-key.ts";

const ACCOUNT = accountPrefix(7);
const KIND = 8;
const WIDTH = 20;

/** Keys of which many share their first bytes, so that groups have chains, single leaves and many keys. */
const keys = fc
  .tuple(fc.constantFrom(0, 1, 16, 17, 255), fc.nat({ max: 3 }), fc.nat({ max: 40 }))
  .map(([first, second, last]) => {
    const key = new Uint8Array(WIDTH);
    key[0] = first;
    key[1] = second;
    key[WIDTH - 1] = last;
    return key;
  });
const changes = fc.array(fc.record({ rest: keys, isPresent: fc.boolean() }), { maxLength: 60 });

function trieOf(list: Iterable<Uint8Array>): KindTrie {
  const trie = new KindTrie();
  trie.start(ACCOUNT, KIND);
  for (const key of list) trie.add(key);
  return trie;
}

test("kept keys have the root of a trie that is computed from all keys after each change, whether few or many", () => {
  fc.assert(
    fc.property(fc.array(keys, { maxLength: 200 }), fc.array(changes, { maxLength: 8 }), (first, batches) => {
      const present = new Map(first.map((key) => [key.toHex(), key]));
      const trie = trieOf(first);
      trie.root();
      const kept = new KeptKind({ ...trie.keys(), width: WIDTH });
      expect(kept.root()).toEqual(trie.root());
      for (const batch of batches) {
        for (const { rest, isPresent } of batch) {
          kept.set(rest, isPresent);
          if (isPresent) present.set(rest.toHex(), rest);
          else present.delete(rest.toHex());
        }
        expect(kept.root()).toEqual(trieOf(present.values()).root());
      }
    }),
  );
});

test("a key of another length than the others is refused", () => {
  const trie = trieOf([new Uint8Array(WIDTH)]);
  trie.root();
  expect(() => new KeptKind(trie.keys()).set(new Uint8Array(WIDTH + 1), true)).toThrow(RangeError);
});
