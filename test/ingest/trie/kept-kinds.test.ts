import { describe, expect, test } from "bun:test";
import { KeptKinds } from "../../../src/ingest/trie/kept-kinds.ts";
import type { ChangedKind } from "../../../src/ingest/trie/key-changes.ts";
import { KeptKind } from "../../../src/trust/trie/kept-kind.ts";
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

/** Applies to one kept key a change that arrives `ageSecs` after it was read. */
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

  test("is read from the rows unless the index still has the root that the keys gave, for that account only", () => {
    const kinds = new KeptKinds();
    const [first, other] = [trieOf([rest(1)]), trieOf([rest(3)])];
    const of = (shard: number, account: Uint8Array) => ({ shard, account, kind: KIND, ...added });
    const own = of(1, ACCOUNT);
    const isKept = (before: typeof first.root | undefined, changed = own) =>
      kinds.apply(changed, before, READ_AT_SECS, () => true) !== undefined;
    const keep = () => kinds.keep(own, first.keys, first.root, READ_AT_SECS);
    for (const before of [undefined, other.root, { ...first.root, keys: 2 }]) {
      keep();
      expect(isKept(before)).toBe(false);
      // They are of no use any more.
      expect(isKept(first.root)).toBe(false);
    }
    keep();
    for (const changed of [of(2, ACCOUNT), of(1, accountPrefix(8)), { ...own, kind: KIND + 1 }])
      expect(isKept(first.root, changed)).toBe(false);
    expect(isKept(first.root)).toBe(true);
    expect([isKept(first.root), isKept(both)]).toEqual([false, false]);
  });

  test("follows from each of its changes in turn", () => {
    const kinds = new KeptKinds();
    const { root, keys } = trieOf([rest(1)]);
    const change = (n: number, isPresent: boolean) => ({
      ...{ shard: 1, account: ACCOUNT, kind: KIND },
      keys: [{ rest: rest(n), isPresent }],
    });
    kinds.keep(change(1, true), keys, root, READ_AT_SECS);
    expect(kinds.apply(change(2, true), root, READ_AT_SECS, () => true)).toMatchObject({
      root: both.root,
      keys: 2,
    });
    const alone = trieOf([rest(2)]).root;
    expect(kinds.apply(change(1, false), both, READ_AT_SECS, () => true)).toMatchObject({
      root: alone.root,
      keys: 1,
    });
  });
});

describe("the memory for kept keys", () => {
  const one = trieOf([rest(1)]);
  const KIND_BYTES = new KeptKind(one.keys).size;
  const of = (fid: number) => ({
    ...{ shard: 1, account: accountPrefix(fid), kind: KIND },
    keys: [{ rest: rest(1), isPresent: true }],
  });
  const fill = (maxBytes: number, fids: readonly number[], { root, keys } = one) => {
    const kinds = new KeptKinds(maxBytes);
    for (const fid of fids) kinds.keep(of(fid), keys, root, READ_AT_SECS);
    return kinds;
  };
  /** Uses the keys if they are kept. */
  const isKept = (kinds: KeptKinds, fid: number, root = one.root) =>
    kinds.apply(of(fid), root, READ_AT_SECS, () => true) !== undefined;

  test("is for the kinds that were used last, however often each of them is read and used", () => {
    const fids = Array.from({ length: 10 }, (_, n) => n + 1);
    const kinds = fill(10 * KIND_BYTES, [...fids, 1, 1, 1]);
    for (const fid of [3, ...fids, 3]) expect(isKept(kinds, fid)).toBe(true);
    kinds.keep(of(11), one.keys, one.root, READ_AT_SECS);
    expect([...fids, 11].filter((fid) => !isKept(kinds, fid))).toEqual([1]);
  });

  test("has room for a kind of an eighth of it at most", () => {
    const larger = trieOf(Array.from({ length: 5 }, (_, n) => rest(n + 1)));
    expect(isKept(fill(8 * KIND_BYTES, [1]), 1)).toBe(true);
    expect(isKept(fill(8 * KIND_BYTES, [1], larger), 1, larger.root)).toBe(false);
  });
});
