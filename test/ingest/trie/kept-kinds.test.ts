import { describe, expect, test } from "bun:test";
import { KeptKinds } from "../../../src/ingest/trie/kept-kinds.ts";
import type { ChangedKind } from "../../../src/ingest/trie/key-changes.ts";
import { KindTrie } from "../../../src/trust/trie/trie.ts";
import { accountPrefix } from "../../../src/trust/trie-key.ts";

const ACCOUNT = accountPrefix(7);
const KIND = 8;
const WIDTH = 20;
const READ_AT_SECS = 1_000_000;
const HOUR_SECS = 3600;

const rest = (n: number) => new Uint8Array(WIDTH).fill(n);

function trieOf(rests: readonly Uint8Array[]) {
  const trie = new KindTrie();
  trie.start(ACCOUNT, KIND);
  for (const one of rests) trie.add(one);
  const root = trie.root();
  if (!root) throw new Error("a trie with keys has a root");
  return { root: { kind: KIND, ...root }, keys: { ...trie.keys(), width: WIDTH } };
}

/** Applies to one kept key a change that comes `ageSecs` after it was read. */
function applyAfter(ageSecs: number, mayRead: boolean, change: Pick<ChangedKind, "keys">) {
  const kinds = new KeptKinds();
  const { root, keys } = trieOf([rest(1)]);
  const changed = { shard: 1, account: ACCOUNT, kind: KIND, ...change };
  kinds.keep(changed, keys, root, READ_AT_SECS);
  return kinds.apply(changed, root, READ_AT_SECS + ageSecs, () => mayRead);
}

describe("the root of a kind whose keys are kept", () => {
  const added = { keys: [{ rest: rest(2), isPresent: true }] };
  const both = trieOf([rest(1), rest(2)]).root;

  test.each([
    ["within the hour, though the rows may be read", HOUR_SECS, true],
    ["within the hour, while they may not", HOUR_SECS, false],
    ["after it, while they may not", HOUR_SECS + 1, false],
  ])("follows from its changes %s", (_when, ageSecs, mayRead) => {
    expect(applyAfter(ageSecs, mayRead, added)).toMatchObject({ root: both.root, keys: 2 });
  });

  test("is read from the rows after an hour, and where it is not known which keys changed", () => {
    expect(applyAfter(HOUR_SECS + 1, true, added)).toBeUndefined();
    expect(applyAfter(0, false, {})).toBeUndefined();
  });

  test("is empty without its last key", () => {
    expect(applyAfter(0, true, { keys: [{ rest: rest(1), isPresent: false }] })).toBe("empty");
  });
});
