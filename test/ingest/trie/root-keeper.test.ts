import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type IndexDatabase, openIndexInMemory } from "../../../src/db/index/database.ts";
import { claimNetwork } from "../../../src/db/index/identity.ts";
import { putPosition } from "../../../src/db/index/positions.ts";
import {
  decodeKinds,
  dirtyKindsOf,
  isAnyDirty,
  markDirty,
  storedAccount,
} from "../../../src/db/index/trie/account-roots.ts";
import { setCorrection } from "../../../src/db/index/trie/corrections.ts";
import { quarantinedAccounts, quarantinedPosition } from "../../../src/db/index/trie/heals.ts";
import { setKeysKnown } from "../../../src/db/index/trie/known-keys.ts";
import { putOpaque } from "../../../src/db/index/trie/opaque.ts";
import { areRootsKept, rootsComputedUpTo, shardProof } from "../../../src/db/index/trie/shard-proofs.ts";
import { putChainHead } from "../../../src/db/index/upstream-work.ts";
import { storeOnChainEvent } from "../../../src/ingest/merge/registry.ts";
import type { ChangedKind } from "../../../src/ingest/trie/key-changes.ts";
import {
  type ChangedTries,
  createRootKeeper,
  type RootKeeper,
  type RootKeeperDeps,
} from "../../../src/ingest/trie/root-keeper.ts";
import { NO_BUDGET, type WorkBudget } from "../../../src/ingest/trie/work-budget.ts";
import { FarcasterNetwork, MessageType } from "../../../src/protocol/wire/generated/message.ts";
import { OnChainEvent } from "../../../src/protocol/wire/generated/on-chain.ts";
import {
  accountPrefix,
  kindOfKey,
  messageKey,
  onChainKey,
  REST_START,
  type TrieKey,
} from "../../../src/trust/trie-key.ts";
import { registerEvent, rentEvent, signerEvent } from "../../support/events.ts";
import { DEFAULT_NOW_SECS } from "../../support/messages.ts";
import { shardRootOf } from "../../support/trie.ts";

const NOW = DEFAULT_NOW_SECS;
const HOUR_SECS = 3600;

let db: IndexDatabase;
/** The keys of the network's trie. */
let trie: Map<string, TrieKey>;
let height: number;
beforeEach(() => {
  db = openIndexInMemory();
  claimNetwork(db, "mainnet");
  trie = new Map();
  height = 100;
});
afterEach(() => db[Symbol.dispose]());

/** The network and the index get an event. Returns the kind that it changes. */
function happens(event: OnChainEvent): ChangedKind {
  storeOnChainEvent(db, event);
  const key = onChainKey(OnChainEvent.encode(event).finish());
  if (!key) throw new Error("an on-chain event has a key");
  trie.set(key.toHex(), key);
  const keys = [{ rest: key.slice(REST_START), isPresent: true }];
  return { shard: 1, account: accountPrefix(event.fid), kind: kindOfKey(key), keys };
}
const rents = (fid: number, block: number) => happens(rentEvent(fid, 1, { block }));

/** The disk loses an event. */
const loses = (block: number) => db.sqlite.run("DELETE FROM on_chain_events WHERE block_number = ?", [block]);

/** A budget that ends after some work, and begins again with `refill`. */
function startBudget(): WorkBudget & { refill(units: number): void } {
  let left = 0;
  return {
    hasRoom: () => left > 0,
    spend(work) {
      left -= 1;
      return work();
    },
    refill(units) {
      left = units;
    },
  };
}
const NOTHING: WorkBudget = { hasRoom: () => false, spend: (work) => work() };

const keeperOf = (deps: Partial<RootKeeperDeps> = {}): RootKeeper =>
  createRootKeeper({
    db,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    budget: NO_BUDGET,
    scrubBudget: NOTHING,
    maxKeysAtOnce: Number.POSITIVE_INFINITY,
    ...deps,
  });

/** The next block is applied: its number and the root that the network has signed are stored. */
function reachesNextBlock({ root = shardRootOf(trie.values()).root } = {}): void {
  height += 1;
  putChainHead(db, { shard: 1, height, hash: new Uint8Array(32), timestamp: NOW, root, certified: height });
  putPosition(db, "upstream 1 applied", height);
}
const update = (keeper: RootKeeper, change: Partial<ChangedTries> = {}) =>
  keeper.update({ shard: 1, kinds: [], claimedRoots: [], nowSecs: NOW, ...change });
const block = (keeper: RootKeeper, change: Partial<ChangedTries> = {}, signed?: { root: Uint8Array }) =>
  db.transaction(() => {
    reachesNextBlock(signed);
    update(keeper, change);
  });
const isProven = () => shardProof(db, 1).provenHeight === height;

describe("the first roots", () => {
  test("are computed account by account as far as the budget goes, and compared once all are there", () => {
    for (const fid of [1, 2, 3]) rents(fid, fid);
    // Of an account without rows.
    const foreign = messageKey(9, MessageType.MESSAGE_TYPE_KEY_ADD, new Uint8Array(20).fill(1));
    setCorrection(db, 1, foreign, true);
    trie.set(foreign.toHex(), foreign);
    const firstBudget = startBudget();
    const keeper = keeperOf({ firstBudget });
    const steps = [1, 1, 1, 0, 1].map((units) => {
      firstBudget.refill(units);
      block(keeper);
      const stored = [1, 2, 3, 9].filter((fid) => storedAccount(db, 1, accountPrefix(fid)));
      // Nothing is compared with the signed root before all are there.
      expect(shardProof(db, 1).mismatches).toBe(0);
      return [rootsComputedUpTo(db), stored, areRootsKept(db), isProven()];
    });
    expect(steps).toEqual([
      [1, [1], false, false],
      [2, [1, 2], false, false],
      [3, [1, 2, 3], false, false],
      [3, [1, 2, 3], false, false],
      [Number.MAX_SAFE_INTEGER, [1, 2, 3, 9], true, true],
    ]);
  });

  test("of later accounts are computed with the accounts, not with what changes them meanwhile", () => {
    for (const fid of [1, 2]) rents(fid, fid);
    const firstBudget = startBudget();
    const keeper = keeperOf({ firstBudget });
    firstBudget.refill(1);
    block(keeper, { kinds: [rents(1, 11), rents(2, 12)] });
    expect([1, 2].map((fid) => storedAccount(db, 1, accountPrefix(fid)) !== undefined)).toEqual([
      true,
      false,
    ]);
    expect(isAnyDirty(db, 1)).toBe(false);
    firstBudget.refill(0);
    block(keeper, { kinds: [rents(1, 21)] });
    firstBudget.refill(9);
    block(keeper);
    expect(isProven()).toBe(true);
  });
});

describe("a kind that changes", () => {
  test("is computed later while the budget is spent, and until then the root of its shard is not compared", () => {
    rents(1, 1);
    const budget = startBudget();
    const keeper = keeperOf({ budget, firstBudget: NO_BUDGET });
    block(keeper);
    expect(isProven()).toBe(true);
    const provenAt = height;
    block(keeper, { kinds: [rents(1, 2)] });
    expect(dirtyKindsOf(db, 1, accountPrefix(1))).toHaveLength(1);
    expect(shardProof(db, 1)).toMatchObject({ provenHeight: provenAt, mismatchHeight: null });
    budget.refill(1);
    block(keeper);
    expect([isAnyDirty(db, 1), isProven()]).toEqual([false, true]);
  });

  test("is computed when its turn comes, also after a later account was the last one", () => {
    const [first, last] = [1, 2].sort((a, b) => Buffer.compare(accountPrefix(a), accountPrefix(b))) as [
      number,
      number,
    ];
    for (const fid of [first, last]) rents(fid, fid);
    const budget = startBudget();
    const keeper = keeperOf({ budget, firstBudget: NO_BUDGET });
    block(keeper);
    for (const [place, fids] of [
      [10, [first, last]],
      [20, [first]],
    ] as const) {
      budget.refill(0);
      block(keeper, { kinds: fids.map((fid) => ({ ...rents(fid, place + fid), keys: undefined })) });
      expect(isAnyDirty(db, 1)).toBe(true);
      budget.refill(9);
      block(keeper);
      expect([isAnyDirty(db, 1), isProven()]).toEqual([false, true]);
    }
  });

  test("is computed though more kinds than are looked at together have to wait for their hour", () => {
    const fids = Array.from({ length: 71 }, (_, n) => n + 1).sort((a, b) =>
      Buffer.compare(accountPrefix(a), accountPrefix(b)),
    );
    const last = fids.pop() as number;
    const large = fids.map((fid) => ({ ...rents(fid, fid), keys: undefined }));
    for (const fid of fids) rents(fid, 100 + fid);
    const keeper = keeperOf({ maxKeysAtOnce: 1 });
    // Computed, and then again within the hour.
    for (let n = 0; n < 2; n++) block(keeper, { kinds: large });
    const { account, kind } = rents(last, last);
    markDirty(db, 1, account, kind);
    for (let n = 0; n < 2; n++) block(keeper);
    expect(dirtyKindsOf(db, 1, account)).toEqual([]);
    expect(dirtyKindsOf(db, 1, accountPrefix(fids[0] as number))).toHaveLength(1);
  });

  test("costs no budget while its keys are kept", () => {
    rents(1, 1);
    const budget = startBudget();
    const keeper = keeperOf({ budget, firstBudget: NO_BUDGET });
    budget.refill(1);
    block(keeper, { kinds: [] });
    block(keeper, { kinds: [rents(1, 2)] });
    expect([budget.hasRoom(), isProven()]).toEqual([false, true]);
    block(keeper, { kinds: [rents(1, 3)] });
    expect([isAnyDirty(db, 1), isProven()]).toEqual([false, true]);
  });

  test("leaves no root of an account whose last key it loses", () => {
    const { keys = [], ...kind } = rents(1, 1);
    rents(2, 2);
    const keeper = keeperOf();
    block(keeper);
    loses(1);
    const [key] = trie.keys();
    trie.delete(key ?? "");
    block(keeper, { kinds: [{ ...kind, keys: keys.map(({ rest }) => ({ rest, isPresent: false })) }] });
    expect(storedAccount(db, 1, accountPrefix(1))).toBeUndefined();
    expect(isProven()).toBe(true);
  });

  test("is computed at most once an hour where it has more keys than are read at once", () => {
    const kind = { ...rents(1, 1), keys: undefined };
    rents(1, 2);
    const keeper = keeperOf({ maxKeysAtOnce: 1 });
    block(keeper);
    const isComputedAt = (blockNumber: number, afterSecs: number) => {
      rents(1, blockNumber);
      block(keeper, { kinds: [kind], nowSecs: NOW + afterSecs });
      return [!isAnyDirty(db, 1), isProven()];
    };
    expect(isComputedAt(3, 0)).toEqual([true, true]);
    expect(isComputedAt(4, HOUR_SECS - 1)).toEqual([false, false]);
    expect(isComputedAt(5, HOUR_SECS)).toEqual([true, true]);
    expect(isComputedAt(6, HOUR_SECS + 1)).toEqual([false, false]);
  });

  test("waits its hour whatever other accounts have as many keys", () => {
    const kinds = [1, 2].map((fid) => ({ ...rents(fid, fid), keys: undefined }));
    for (const fid of [1, 2]) rents(fid, 10 + fid);
    const keeper = keeperOf({ maxKeysAtOnce: 1 });
    block(keeper, { kinds });
    block(keeper, { kinds });
    expect([1, 2].map((fid) => dirtyKindsOf(db, 1, accountPrefix(fid)).length)).toEqual([1, 1]);
  });

  test("with just as many keys as are read at once does not wait", () => {
    const kind = { ...rents(1, 1), keys: undefined };
    const keeper = keeperOf({ maxKeysAtOnce: 2 });
    block(keeper);
    for (const place of [2, 3, 4]) {
      rents(1, place);
      block(keeper, { kinds: [kind] });
      expect(isProven()).toBe(true);
    }
  });

  test("has its place among the other kinds of its account", () => {
    const register = registerEvent(1, new Uint8Array(20).fill(1), { block: 1 });
    const kinds = [
      rents(1, 2),
      happens(signerEvent(1, new Uint8Array(32).fill(1), { block: 3 })),
      happens(register),
    ];
    const keeper = keeperOf();
    block(keeper);
    for (const { kind } of kinds) {
      block(keeper, { kinds: [{ shard: 1, account: accountPrefix(1), kind }] });
      expect(isProven()).toBe(true);
    }
  });

  test("waits below an opaque child of its account until that is read again", () => {
    const changed = rents(1, 1);
    const { account, kind } = changed;
    const keeper = keeperOf();
    block(keeper);
    putOpaque(db, { shard: 1, account, nibble: kind >> 4, root: new Uint8Array(20).fill(1), keys: 5 });
    markDirty(db, 1, account, kind);
    const before = storedAccount(db, 1, account)?.root;
    block(keeper, { kinds: [changed] });
    expect(storedAccount(db, 1, account)?.root).toEqual(before ?? new Uint8Array());
    expect(isAnyDirty(db, 1)).toBe(true);
    db.sqlite.exec("DELETE FROM trie_dirty");
    block(keeper, { kinds: [{ ...changed, kind: (kind >> 4) << 4, keys: undefined }] });
    expect(storedAccount(db, 1, account)?.root).not.toEqual(before ?? new Uint8Array());
    expect(isAnyDirty(db, 1)).toBe(false);
  });

  test("is not among those of its account below an opaque child, of which the index may have some keys", () => {
    rents(1, 1);
    const keeper = keeperOf();
    block(keeper);
    const [account, nibble] = [accountPrefix(1), 1];
    const key = messageKey(1, MessageType.MESSAGE_TYPE_CAST_REMOVE, new Uint8Array(20).fill(1));
    putOpaque(db, { shard: 1, account, nibble, root: new Uint8Array(20).fill(1), keys: 5 });
    setCorrection(db, 1, key, true);
    expect(kindOfKey(key)).toBe(nibble << 4);
    block(keeper, { kinds: [{ shard: 1, account, kind: kindOfKey(key) }] });
    const stored = decodeKinds(storedAccount(db, 1, account)?.kinds ?? new Uint8Array());
    expect(stored.map(({ kind }) => kind >> 4)).toEqual([0]);
  });
});

describe("the root of a shard", () => {
  test("is compared at the block that is applied, certified and of known keys only", () => {
    rents(1, 1);
    const keeper = keeperOf();
    block(keeper);
    const { root } = shardRootOf(trie.values());
    const provenAfter = (head: { height: number; certified: number }, applied: number, knownFrom: number) => {
      db.sqlite.exec("DELETE FROM trie_shards");
      db.transaction(() => {
        setKeysKnown(db, 1, knownFrom);
        putChainHead(db, { shard: 1, hash: new Uint8Array(32), timestamp: NOW, root, ...head });
        putPosition(db, "upstream 1 applied", applied);
        update(keeper);
      });
      return shardProof(db, 1).provenHeight;
    };
    expect([
      provenAfter({ height: 200, certified: 200 }, 200, 0),
      provenAfter({ height: 200, certified: 200 }, 200, 200),
      provenAfter({ height: 200, certified: 200 }, 200, 201),
      provenAfter({ height: 201, certified: 201 }, 200, 0),
      provenAfter({ height: 200, certified: 199 }, 200, 0),
    ]).toEqual([200, 200, null, null, null]);
  });

  test("is compared by what no block of the shard says only if that changed the shard", () => {
    const changed = rents(1, 1);
    const keeper = keeperOf();
    block(keeper, { shard: undefined });
    expect(shardProof(db, 1).provenHeight).toBeNull();
    block(keeper, { shard: undefined, kinds: [changed] });
    expect(isProven()).toBe(true);
  });

  test("counts a difference once, however long it lasts, and ends it with the quarantines when it is proven", () => {
    rents(1, 1);
    const keeper = keeperOf();
    const wrong = { root: new Uint8Array(20).fill(9) };
    block(keeper, {}, wrong);
    const since = height;
    const { key, position } = quarantinedPosition(1, accountPrefix(1), NOW);
    putPosition(db, key, position);
    block(keeper, {}, wrong);
    expect(shardProof(db, 1)).toMatchObject({ provenHeight: null, mismatchHeight: since, mismatches: 1 });
    expect(quarantinedAccounts(db)).toHaveLength(1);
    block(keeper, { nowSecs: NOW + 5 });
    expect(shardProof(db, 1)).toEqual({
      provenHeight: height,
      provenAt: NOW + 5,
      mismatchHeight: null,
      mismatches: 1,
    });
    expect(quarantinedAccounts(db)).toEqual([]);
    block(keeper, {}, wrong);
    expect(shardProof(db, 1)).toMatchObject({ mismatchHeight: height, mismatches: 2 });
  });

  test("is that of before after a transaction was rolled back", () => {
    rents(1, 1);
    const keeper = keeperOf();
    block(keeper);
    const before = [...trie];
    expect(() =>
      db.transaction(() => {
        const kinds = [rents(1, 2)];
        reachesNextBlock();
        update(keeper, { kinds });
        throw new Error("no disk");
      }),
    ).toThrow("no disk");
    keeper.discard();
    trie = new Map(before);
    block(keeper);
    expect(isProven()).toBe(true);
  });
});

describe("an account that no block changes", () => {
  const lostAt = (keeper: RootKeeper, change: Partial<ChangedTries> = {}) => {
    for (let blocks = 1; blocks <= 8; blocks++) {
      block(keeper, change);
      if (shardProof(db, 1).mismatchHeight !== null) return blocks;
    }
    return undefined;
  };

  test("is computed again in turn, one for each block, so that rows that the disk lost are noticed", () => {
    for (const fid of [1, 2, 3]) for (const place of [0, 10]) rents(fid, fid + place);
    const keeper = keeperOf({ scrubBudget: NO_BUDGET });
    block(keeper);
    loses(13);
    // Accounts 2 and 3 follow the first.
    expect(lostAt(keeper)).toBe(2);
    rents(3, 13);
    // The end, then 1, 2 and 3.
    block(keeper);
    for (let turn = 0; turn < 3; turn++) block(keeper);
    expect(isProven()).toBe(true);
    loses(11);
    expect(lostAt(keeper)).toBe(2);
  });

  test("is not computed without budget, by what no block says, nor if it is too large", () => {
    for (const place of [0, 10]) rents(1, 1 + place);
    for (const [deps, change] of [
      [{ scrubBudget: NOTHING }, {}],
      [{ scrubBudget: NO_BUDGET }, { shard: undefined }],
      [{ scrubBudget: NO_BUDGET, maxKeysAtOnce: 1 }, {}],
      [{ scrubBudget: NO_BUDGET, maxKeysAtOnce: 2 }, {}],
    ] as const) {
      rents(1, 1);
      const keeper = keeperOf(deps);
      db.transaction(() => keeper.recompute(1, accountPrefix(1), NOW));
      block(keeper);
      expect(isProven()).toBe(true);
      loses(1);
      const isNoticed = "maxKeysAtOnce" in deps && deps.maxKeysAtOnce === 2;
      const before = storedAccount(db, 1, accountPrefix(1))?.root ?? new Uint8Array();
      expect(lostAt(keeper, change) !== undefined).toBe(isNoticed);
      if (!isNoticed) expect(storedAccount(db, 1, accountPrefix(1))?.root).toEqual(before);
    }
  });

  test("that has to wait for one of its kinds keeps its root until then", () => {
    for (const place of [0, 10]) rents(1, 1 + place);
    const budget = startBudget();
    const keeper = keeperOf({ budget, firstBudget: NO_BUDGET, scrubBudget: NO_BUDGET });
    block(keeper);
    const before = storedAccount(db, 1, accountPrefix(1))?.root;
    const kinds = [{ ...rents(1, 21), keys: undefined }];
    for (let turn = 0; turn < 3; turn++) block(keeper, { kinds });
    expect(storedAccount(db, 1, accountPrefix(1))?.root).toEqual(before ?? new Uint8Array());
  });
});

test("an account that is computed on request is up to date, whatever was stored of it", () => {
  rents(1, 1);
  const keeper = keeperOf();
  block(keeper);
  markDirty(db, 1, accountPrefix(1), 8);
  rents(1, 2);
  db.transaction(() => {
    reachesNextBlock();
    keeper.recompute(1, accountPrefix(1), NOW);
  });
  expect([isAnyDirty(db, 1), isProven()]).toEqual([false, true]);
});

test("an account that is computed on request is compared only once the roots of all are there", () => {
  for (const fid of [1, 2]) rents(fid, fid);
  const keeper = keeperOf({ firstBudget: NOTHING });
  db.transaction(() => {
    reachesNextBlock();
    keeper.recompute(1, accountPrefix(1), NOW);
  });
  expect(storedAccount(db, 1, accountPrefix(1))).toBeDefined();
  expect(shardProof(db, 1)).toMatchObject({ provenHeight: null, mismatches: 0 });
});
