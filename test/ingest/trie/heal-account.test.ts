import { expect, test } from "bun:test";
import { openIndexInMemory } from "../../../src/db/index/database.ts";
import { claimNetwork } from "../../../src/db/index/identity.ts";
import { correction } from "../../../src/db/index/trie/corrections.ts";
import { KindRoots } from "../../../src/db/index/trie/kind-roots.ts";
import { createIngestEngine } from "../../../src/ingest/engine.ts";
import { type HealedAccount, healAccount, NotHealedError } from "../../../src/ingest/trie/heal-account.ts";
import { FarcasterNetwork, UserNameProof } from "../../../src/protocol/wire/generated/message.ts";
import { accountRootOf, childOf, KindTrie } from "../../../src/trust/trie/trie.ts";
import {
  ACCOUNT_BYTES,
  accountPrefix,
  fnameKey,
  kindOfKey,
  REST_START,
} from "../../../src/trust/trie-key.ts";
import { ManualClock } from "../../support/clock.ts";
import { fnameProof } from "../../support/events.ts";
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
function indexWith(names: readonly string[]) {
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
  engine.applyRelayed({ ops, positions: [], shards: 1 });
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
