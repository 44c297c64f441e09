import { describe, expect, test } from "bun:test";
import { type IndexDatabase, openIndexInMemory } from "../../../src/db/index/database.ts";
import { claimNetwork } from "../../../src/db/index/identity.ts";
import { correction, setCorrection } from "../../../src/db/index/trie/corrections.ts";
import { KindRoots } from "../../../src/db/index/trie/kind-roots.ts";
import { opaqueChildren } from "../../../src/db/index/trie/opaque.ts";
import { createIngestEngine } from "../../../src/ingest/engine.ts";
import { storeOnChainEvent } from "../../../src/ingest/merge/registry.ts";
import { type HealedAccount, healAccount, NotHealedError } from "../../../src/ingest/trie/heal-account.ts";
import { shardOfFid } from "../../../src/protocol/network/shard.ts";
import { FarcasterNetwork, UserNameProof } from "../../../src/protocol/wire/generated/message.ts";
import { OnChainEvent } from "../../../src/protocol/wire/generated/on-chain.ts";
import { accountRootOf, childOf, KindTrie } from "../../../src/trust/trie/trie.ts";
import {
  ACCOUNT_BYTES,
  accountPrefix,
  fnameKey,
  kindOfKey,
  onChainKey,
  REST_START,
  type TrieKey,
} from "../../../src/trust/trie-key.ts";
import { ManualClock } from "../../support/clock.ts";
import { fnameProof, rentEvent } from "../../support/events.ts";
import { DEFAULT_NOW_SECS, makeWallet } from "../../support/messages.ts";

const network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
const FID = 1;
const proofOf = (name: string) =>
  UserNameProof.encode(fnameProof(name, FID, makeWallet("owner").address, DEFAULT_NOW_SECS)).finish();

function keyOf(proof: Uint8Array): Uint8Array {
  const key = fnameKey(proof);
  if (!key) throw new Error("an fname has a key");
  return key;
}

/** An index with the names of an account. */
function indexWith(names: readonly string[], shards = 1) {
  const db = openIndexInMemory();
  claimNetwork(db, "mainnet");
  const engine = createIngestEngine({
    db,
    network,
    clock: new ManualClock(DEFAULT_NOW_SECS),
    onFault: (cause) => {
      throw cause;
    },
  });
  const ops = names.map((name) => ({ kind: "proof", added: proofOf(name), happenedAt: 0 }) as const);
  engine.applyRelayed({ ops, positions: [], shards });
  return db;
}

/** The account as the network has it, with these names. */
function signedWith(names: readonly string[]): HealedAccount {
  const account = accountPrefix(FID);
  const trie = new KindTrie();
  trie.start(account, kindOfKey(keyOf(proofOf("any"))));
  for (const name of names) trie.add(keyOf(proofOf(name)).slice(REST_START));
  const found = trie.root();
  const kinds = found ? [{ ...found, kind: keyOf(proofOf("any"))[ACCOUNT_BYTES] as number }] : [];
  const children = [childOf(0, kinds) ?? []].flat();
  return {
    shard: 1,
    account,
    root: accountRootOf(kinds, [])?.root ?? new Uint8Array(),
    children,
    uncertain: [],
  };
}

test.each<[left: readonly string[]]>([[["a", "b", "c"]], [["a", "c"]], [["b"]], [[]]])(
  "of three names that the rows have, those that have left the trie are found by its root: %j are left",
  (left) => {
    const names = ["a", "b", "c"];
    using db = indexWith(names);
    const kinds = new KindRoots(db, network, 1);
    const healed = signedWith(left);
    healAccount({ db, network, kinds, shards: 1 }, healed);
    for (const name of names)
      expect(correction(db, 1, keyOf(proofOf(name)))).toBe(left.includes(name) ? undefined : false);
    expect(accountRootOf(kinds.ofAccount(1, healed.account), [])?.root ?? new Uint8Array()).toEqual(
      healed.root,
    );
  },
);

test("an account is not healed where no set of its uncertain keys has the root, nor with more than six of them", () => {
  const seven = ["a", "b", "c", "d", "e", "f", "g"];
  for (const [names, left] of [
    [["a"], ["b"]],
    [seven, ["a"]],
  ] as const) {
    using db = indexWith(names);
    const deps = { db, network, kinds: new KindRoots(db, network, 1), shards: 1 };
    expect(() => healAccount(deps, signedWith(left))).toThrow(NotHealedError);
  }
  using db = indexWith(seven.slice(1));
  healAccount({ db, network, kinds: new KindRoots(db, network, 1), shards: 1 }, signedWith(["g"]));
});

/** The account as the network has it, with these keys. */
function signedOf(
  keys: readonly TrieKey[],
  { shard = 1, uncertain = [] as readonly TrieKey[] } = {},
): HealedAccount {
  const account = accountPrefix(FID);
  const kinds = [...new Set(keys.map(kindOfKey))]
    .sort((a, b) => a - b)
    .flatMap((kind) => {
      const trie = new KindTrie();
      trie.start(account, kind);
      for (const key of keys) if (kindOfKey(key) === kind) trie.add(key.slice(REST_START));
      const root = trie.root();
      return root ? [{ ...root, kind }] : [];
    });
  const children = Array.from({ length: 16 }, (_, nibble) => childOf(nibble, kinds) ?? []).flat();
  return { shard, account, root: accountRootOf(kinds, [])?.root ?? new Uint8Array(), children, uncertain };
}
const placeOf = (n: number) => Buffer.alloc(36, n);
const keyAt = (kind: number, n: number): TrieKey =>
  Buffer.concat([accountPrefix(FID), Uint8Array.of(kind), placeOf(n)]);

test("of events that no row derives, those are found that the root needs; what the rows have besides stays", () => {
  using db = indexWith(["a"]);
  const rent = rentEvent(FID, 1, { block: 1 });
  storeOnChainEvent(db, rent);
  const own = onChainKey(OnChainEvent.encode(rent).finish()) as TrieKey;
  // Their kinds are below and above that of the rent.
  const [below, above, away, ofName] = [keyAt(2, 1), keyAt(6, 1), keyAt(6, 2), keyOf(proofOf("a"))];
  const healed = signedOf([own, below, above], { uncertain: [below, above, away] });
  healAccount({ db, network, kinds: new KindRoots(db, network, 1), shards: 1 }, healed);
  expect([own, below, above, away, ofName].map((key) => correction(db, 1, key))).toEqual([
    ...[undefined, true, true, undefined, false],
  ]);
  // What a correction names may have left the trie since.
  const left = signedOf([own, below], {});
  healAccount({ db, network, kinds: new KindRoots(db, network, 1), shards: 1 }, left);
  expect([below, above].map((key) => correction(db, 1, key))).toEqual([true, undefined]);
  // Once it is equal, nothing is tried again.
  setCorrection(db, 1, away, false);
  healAccount({ db, network, kinds: new KindRoots(db, network, 1), shards: 1 }, left);
  expect(correction(db, 1, away)).toBe(false);
});

describe("children of an account", () => {
  const UNKNOWN_KIND = 0xf8;
  const healedWith = (db: IndexDatabase, healed: HealedAccount, shards: number) =>
    healAccount({ db, network, kinds: new KindRoots(db, network, shards), shards }, healed);
  const nibblesOf = (db: IndexDatabase, shard: number) =>
    opaqueChildren(db, shard, accountPrefix(FID)).map(({ nibble, keys }) => [nibble, keys]);

  test("of which no row derives keys become opaque, are replaced, and leave with their last key", () => {
    using db = indexWith(["a"]);
    const name = keyOf(proofOf("a"));
    for (const count of [2, 3, 0]) {
      const foreign = Array.from({ length: count }, (_, n) => keyAt(UNKNOWN_KIND, n));
      healedWith(db, signedOf([name, ...foreign]), 1);
      expect(nibblesOf(db, 1)).toEqual(count === 0 ? [] : [[15, count]]);
    }
  });

  test("need rows on the home shard, and become opaque on another one, but for names", () => {
    const shards = 2;
    const home = shardOfFid(FID, shards);
    const away = shards + 1 - home;
    const link = keyAt(40, 1).subarray(0, REST_START + 20);
    const name = keyOf(proofOf("a"));
    using db = indexWith(["a"], shards);
    expect(() => healedWith(db, signedOf([name, link], { shard: home }), shards)).toThrow(NotHealedError);
    healedWith(db, signedOf([name, link], { shard: away }), shards);
    expect([nibblesOf(db, home), nibblesOf(db, away)]).toEqual([[], [[2, 1]]]);
    // A name is in the trie of each shard, and may have left that of one.
    healedWith(db, signedOf([link], { shard: away }), shards);
    expect([home, away].map((shard) => correction(db, shard, name))).toEqual([undefined, false]);
  });

  test("of another shard lack the events of the home shard, which are not tried there, however many there are", () => {
    const shards = 2;
    const away = shards + 1 - shardOfFid(FID, shards);
    using db = indexWith(["a"], shards);
    const rents = Array.from({ length: 7 }, (_, n) => rentEvent(FID, 1, { block: n + 1 }));
    for (const rent of rents) storeOnChainEvent(db, rent);
    const unread = keyAt(
      kindOfKey(onChainKey(OnChainEvent.encode(rents[0] as OnChainEvent).finish()) as TrieKey),
      1,
    );
    healedWith(db, { ...signedOf([], { shard: away, uncertain: [unread] }) }, shards);
    expect(correction(db, away, keyOf(proofOf("a")))).toBe(false);
  });

  test("that are equal are not enough where the root is another one", () => {
    using db = indexWith(["a"]);
    const healed = { ...signedOf([keyOf(proofOf("a"))]), root: new Uint8Array(20).fill(1) };
    expect(() => healedWith(db, healed, 1)).toThrow(NotHealedError);
  });
});
