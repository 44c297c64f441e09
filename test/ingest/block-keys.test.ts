import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openIndexInMemory } from "../../src/db/index/database.ts";
import { claimNetwork } from "../../src/db/index/identity.ts";
import { storedAccount } from "../../src/db/index/trie/account-roots.ts";
import { correctedAccounts, correction } from "../../src/db/index/trie/corrections.ts";
import { areKeysKnown, setKeysKnown } from "../../src/db/index/trie/known-keys.ts";
import { opaqueChildren } from "../../src/db/index/trie/opaque.ts";
import {
  areRootsKept,
  putShardProof,
  setRootsComputed,
  shardProof,
} from "../../src/db/index/trie/shard-proofs.ts";
import { StorageError } from "../../src/db/sqlite/storage-error.ts";
import { createIngestEngine } from "../../src/ingest/engine.ts";
import type { EncodedRecord } from "../../src/ingest/record.ts";
import type { RelayedBatch, RelayedOp } from "../../src/ingest/relayed-op.ts";
import { encodeKeyRecord } from "../../src/ingest/trie/key-records.ts";
import { createRootKeeper } from "../../src/ingest/trie/root-keeper.ts";
import { NO_BUDGET } from "../../src/ingest/trie/work-budget.ts";
import { packBytes } from "../../src/lib/bytes.ts";
import { slotOf } from "../../src/protocol/message/merge-rules.ts";
import { decodeMessage } from "../../src/protocol/message/signed-message.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { OnChainEvent } from "../../src/protocol/wire/generated/on-chain.ts";
import { keyOfOperation } from "../../src/trust/trie-changes.ts";
import { accountPrefix, fnameKeyOf, keysOfSigned, onChainKey } from "../../src/trust/trie-key.ts";
import { ownsWallet, registers, walletOf } from "../support/channel-records.ts";
import { ManualClock } from "../support/clock.ts";
import { rentEvent } from "../support/events.ts";
import { liveHashes } from "../support/live-messages.ts";
import { DEFAULT_NOW_SECS } from "../support/messages.ts";
import { bio, cast, compact, fname, link } from "../support/records.ts";
import { expectOk } from "../support/result.ts";
import { sqliteError } from "../support/storage-faults.ts";

const network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
const PROVEN = { provenHeight: 7, provenAt: DEFAULT_NOW_SECS, mismatchHeight: null, mismatches: 0 };
const BLOCK = {
  shard: 1,
  first: 8,
  last: 8,
  parts: [{ number: 8, time: DEFAULT_NOW_SECS, ops: 0 }],
  isJournal: false,
};

/** An index, by default one that knows all keys and has the roots of all accounts, and its engine. */
function startIndex(keepsRoots: boolean, has = { roots: true, keys: true }) {
  const db = openIndexInMemory();
  claimNetwork(db, "mainnet");
  const engine = createIngestEngine({
    db,
    network,
    clock: new ManualClock(DEFAULT_NOW_SECS),
    onFault: (cause) => {
      throw cause;
    },
    ...(keepsRoots && {
      roots: createRootKeeper({
        db,
        network,
        budget: NO_BUDGET,
        maxKeysAtOnce: Number.POSITIVE_INFINITY,
      }),
    }),
  });
  db.transaction(() => {
    if (has.roots) setRootsComputed(db, undefined);
    putShardProof(db, 1, PROVEN);
    if (has.keys) setKeysKnown(db, 1, 0);
  });
  const apply = (batch: Partial<RelayedBatch>) =>
    engine.applyRelayed({ ops: [], positions: [], shards: 1, ...batch });
  return { db, apply };
}

/** Applies a batch to such an index. */
function indexAfter({ keepsRoots, ...batch }: Partial<RelayedBatch> & { readonly keepsRoots: boolean }) {
  const { db, apply } = startIndex(keepsRoots);
  apply(batch);
  return db;
}

/** Returns what such an index still has after a batch. */
function leftAfter(batch: Parameters<typeof indexAfter>[0]) {
  using db = indexAfter(batch);
  return [
    areRootsKept(db) && `roots, proven at ${shardProof(db, 1).provenHeight}`,
    areKeysKnown(db) && "keys",
  ].filter((one) => one !== false);
}

const [ROOTS, KEYS] = ["roots, proven at 7", "keys"];
const VERIFIED = { blocks: BLOCK, followsKeys: true };

test.each([
  ["verified blocks, by a writer that keeps roots", [ROOTS, KEYS], { keepsRoots: true, ...VERIFIED }],
  ["what no block says, by a writer that keeps roots", [ROOTS, KEYS], { keepsRoots: true }],
  ["blocks that are not verified, by a writer that keeps roots", [], { keepsRoots: true, blocks: BLOCK }],
  ["verified blocks, by a writer that keeps none", [KEYS], { keepsRoots: false, ...VERIFIED }],
  ["what no block says, by a writer that keeps none", [KEYS], { keepsRoots: false }],
  ["blocks that are not verified, by a writer that keeps none", [], { keepsRoots: false, blocks: BLOCK }],
])("after %s, an index has %j", (_, left, batch) => expect(leftAfter(batch)).toEqual(left));

test.each([
  { roots: true, keys: true, notes: true },
  { roots: true, keys: false, notes: true },
  { roots: false, keys: true, notes: true },
  { roots: false, keys: false, notes: false },
])(
  "a message outside of blocks is noted as one that the trie lacks in an index with %j",
  ({ notes, ...has }) => {
    const { db, apply } = startIndex(true, has);
    using _ = db;
    apply({ ops: [{ kind: "put", message: cast(5, "gm").bytes, happenedAt: DEFAULT_NOW_SECS }] });
    expect([...correctedAccounts(db, 1)]).toEqual(notes ? [accountPrefix(5)] : []);
  },
);

test("a batch that was rolled back leaves nothing to note for the next", () => {
  const { db, apply } = startIndex(true);
  using _ = db;
  const put = (...fids: number[]) =>
    apply({
      ops: fids.map((fid) => ({
        ...({ kind: "put", happenedAt: DEFAULT_NOW_SECS } as const),
        message: cast(fid, "gm").bytes,
      })),
    });
  let casts = 0;
  db.beforeStatement = (name) => {
    if (name === "project.casts.insert" && ++casts === 2) throw sqliteError("full");
  };
  expect(() => put(5, 7)).toThrow(StorageError);
  db.beforeStatement = undefined;
  put(6);
  expect([...correctedAccounts(db, 1)]).toEqual([accountPrefix(6)]);
});

test("a batch that heals an account says nothing about the keys of another", () => {
  const healed = {
    ...{ shard: 1, account: accountPrefix(6), root: new Uint8Array() },
    ...{ children: [], uncertain: [] },
  };
  const ops = [{ kind: "put" as const, message: cast(5, "gm").bytes, happenedAt: 0 }];
  using db = indexAfter({ keepsRoots: true, ops, healed });
  expect(liveHashes(db)).toHaveLength(1);
  expect([...correctedAccounts(db, 1)]).toEqual([accountPrefix(5)]);
});

test("a message of a block that is not verified is not noted, because the trie has it", () => {
  const ops = [{ kind: "put" as const, message: cast(5, "gm").bytes, happenedAt: DEFAULT_NOW_SECS }];
  const parts = [{ number: 8, time: DEFAULT_NOW_SECS, ops: 1 }];
  using db = indexAfter({ keepsRoots: true, ops, blocks: { ...BLOCK, parts } });
  expect([...correctedAccounts(db, 1)]).toEqual([]);
});

test("a gasless key that a block adds is in the trie, although no row derives it", () => {
  const added = {
    fid: 5,
    publicKey: new Uint8Array(32).fill(1),
    hash: new Uint8Array(20).fill(2),
    isAdd: true,
  };
  const keyRecords = packBytes([encodeKeyRecord({ kind: "gasless", ...added })]);
  const parts = [{ number: 8, time: DEFAULT_NOW_SECS, ops: 0, keyRecords }];
  using db = indexAfter({ keepsRoots: true, followsKeys: true, blocks: { ...BLOCK, parts } });
  expect(correction(db, 1, keyOfOperation(added))).toBe(true);
});

test("of the roots that transactions name for accounts, an index keeps those that differ from its own, once the root of the shard does", () => {
  const [named, without, own] = [accountPrefix(5), accountPrefix(6), new Uint8Array()];
  const claim = (account: Uint8Array, root: Uint8Array) => encodeKeyRecord({ kind: "root", account, root });
  const root = new Uint8Array(20).fill(7);
  const keyRecords = packBytes([claim(named, own), claim(named, root), claim(without, own)]);
  using db = indexAfter({
    keepsRoots: true,
    followsKeys: true,
    blocks: { ...BLOCK, parts: [{ number: 8, time: DEFAULT_NOW_SECS, ops: 0, keyRecords }] },
    positions: [{ key: "upstream 1 applied", position: 8 }],
    heads: [{ shard: 1, height: 8, hash: root, timestamp: DEFAULT_NOW_SECS, root, certified: 8 }],
  });
  expect(shardProof(db, 1)).toMatchObject({ mismatchHeight: 8, mismatches: 1 });
  expect(storedAccount(db, 1, named)?.claimed).toEqual(root);
  expect(storedAccount(db, 1, without)).toBeUndefined();
});

test("an on-chain event that is repeated stays in the trie, whether or not the block names its key again", () => {
  const event = OnChainEvent.encode(rentEvent(5, 1, { block: 1 })).finish();
  const key = onChainKey(event);
  if (!key) throw new Error("an on-chain event has a key");
  const keyRecords = packBytes([encodeKeyRecord({ kind: "key", key, isPresent: true })]);
  const ops = [{ kind: "onChainEvent" as const, event, happenedAt: DEFAULT_NOW_SECS }];
  const { db, apply } = startIndex(true);
  using _ = db;
  for (const [number, named] of [{ keyRecords }, { keyRecords }, {}].entries()) {
    const part = { number: 8 + number, time: DEFAULT_NOW_SECS, ops: 1, ...named };
    apply({
      ops,
      followsKeys: true,
      blocks: { ...BLOCK, first: part.number, last: part.number, parts: [part] },
    });
    // Only the rows say that the trie has the key.
    expect([...correctedAccounts(db, 1)]).toEqual([]);
  }
});

test("an on-chain event that the rows get and lose by themselves is in the trie as the blocks of its shard say", () => {
  const rent = rentEvent(5, 1, { block: 2 });
  const event = OnChainEvent.encode(rent).finish();
  const key = onChainKey(event) as Uint8Array;
  const { db, apply } = startIndex(true);
  using _ = db;
  let number = 8;
  /** Returns how the trie differs from the rows after a block that says whether the trie has the event. */
  const correctionAfter = (op: RelayedOp, isPresent?: boolean) => {
    const keyRecords =
      isPresent !== undefined && packBytes([encodeKeyRecord({ kind: "key", key, isPresent })]);
    const part = { number, time: DEFAULT_NOW_SECS, ops: 1, ...(keyRecords && { keyRecords }) };
    apply({
      ops: [op],
      followsKeys: true,
      blocks: { ...BLOCK, first: number, last: number++, parts: [part] },
    });
    return correction(db, 1, key);
  };
  const add = { kind: "onChainEvent", event, happenedAt: DEFAULT_NOW_SECS } as const;
  const remove = { kind: "removeOnChainEvent", ref: rent, happenedAt: DEFAULT_NOW_SECS } as const;
  expect([correctionAfter(add), correctionAfter(add, true)]).toEqual([false, undefined]);
  expect([correctionAfter(remove), correctionAfter(remove, false)]).toEqual([true, undefined]);
});

test("a message that comes again stays in the trie, whether or not the block names its key again", () => {
  const { bytes } = cast(5, "gm");
  const message = expectOk(decodeMessage(bytes));
  const [key] = keysOfSigned(message);
  if (!key) throw new Error("a cast has a key");
  const keyRecords = packBytes([encodeKeyRecord({ kind: "key", key, isPresent: true })]);
  const ops = [{ kind: "merge" as const, message: bytes, deleted: [], happenedAt: DEFAULT_NOW_SECS }];
  const { db, apply } = startIndex(true);
  using _ = db;
  for (const [number, named] of [{ keyRecords }, { keyRecords }, {}].entries()) {
    const part = { number: 8 + number, time: DEFAULT_NOW_SECS, ops: 1, ...named };
    const blocks = { ...BLOCK, first: part.number, last: part.number, parts: [part] };
    apply({ ops, followsKeys: true, blocks });
    expect([...correctedAccounts(db, 1)]).toEqual([]);
  }
});

describe("messages of blocks", () => {
  const keyOf = ({ bytes }: EncodedRecord) => keysOfSigned(expectOk(decodeMessage(bytes)))[0] as Uint8Array;
  let index: ReturnType<typeof startIndex>;
  let number: number;
  beforeEach(() => {
    index = startIndex(true);
    number = 8;
  });
  afterEach(() => index.db[Symbol.dispose]());

  type Said = readonly [message: EncodedRecord, isPresent: boolean];
  /** Applies a block that says which messages its trie gets and loses. Returns how the trie differs from the rows then. */
  function block(op: Extract<RelayedOp, { kind: "merge" | "put" | "remove" }>, ...said: readonly Said[]) {
    const keyRecords = packBytes(
      said.map(([message, isPresent]) => encodeKeyRecord({ kind: "key", key: keyOf(message), isPresent })),
    );
    const part = { number, time: DEFAULT_NOW_SECS, ops: 1, keyRecords };
    const blocks = { ...BLOCK, first: number, last: number++, parts: [part] };
    index.apply({ ops: [op], followsKeys: true, blocks });
    return corrections();
  }
  const merge = ({ bytes: message }: EncodedRecord) =>
    ({ kind: "merge", message, deleted: [], happenedAt: DEFAULT_NOW_SECS }) as const;
  const [first, second] = [bio(5, "first", 10), bio(5, "second", 20)];
  const [follow, state] = [link(5, "follow", 2, 10), compact(5, "follow", [3], 20)];
  const corrections = () => [first, second, follow, state].map((one) => correction(index.db, 1, keyOf(one)));
  const NONE = [undefined, undefined, undefined, undefined];

  test("replace each other in the rows as in the trie", () => {
    expect(block(merge(first), [first, true])).toEqual(NONE);
    expect(block(merge(second), [second, true], [first, false])).toEqual(NONE);
  });

  test("leave the rows by themselves, and the trie when a block says it", () => {
    block(merge(first), [first, true]);
    const { store, slot } = slotOf(expectOk(decodeMessage(first.bytes)));
    const ref = { fid: 5, store, slot, hash: expectOk(decodeMessage(first.bytes)).hash };
    const removal = { kind: "remove", ref, happenedAt: DEFAULT_NOW_SECS } as const;
    expect(block(removal)).toEqual([true, undefined, undefined, undefined]);
    expect(block(removal, [first, false])).toEqual(NONE);
  });

  test("that are compacted leave the trie without a word of their block", () => {
    expect(block(merge(follow), [follow, true])).toEqual(NONE);
    expect(block(merge(state), [state, true])).toEqual(NONE);
    expect(liveHashes(index.db)).toHaveLength(1);
  });

  test("change the trie block by block, so that a compact state deletes what the block before it inserted", () => {
    const keyRecords = packBytes([encodeKeyRecord({ kind: "key", key: keyOf(follow), isPresent: true })]);
    const parts = [
      { number: 8, time: DEFAULT_NOW_SECS, ops: 1, keyRecords },
      { number: 9, time: DEFAULT_NOW_SECS, ops: 1 },
    ];
    const blocks = { ...BLOCK, last: 9, parts };
    index.apply({ ops: [merge(follow), merge(state)], followsKeys: true, blocks });
    expect(corrections().slice(0, 3)).toEqual([undefined, undefined, undefined]);
  });

  test("change the trie no earlier than their block, so that a compact state deletes nothing of the block after it", () => {
    block(merge(follow), [follow, true]);
    const again = packBytes([encodeKeyRecord({ kind: "key", key: keyOf(follow), isPresent: true })]);
    const parts = [
      { number: 9, time: DEFAULT_NOW_SECS, ops: 1 },
      { number: 10, time: DEFAULT_NOW_SECS, ops: 1, keyRecords: again },
    ];
    const blocks = { ...BLOCK, first: 9, last: 10, parts };
    index.apply({ ops: [merge(state), { ...merge(follow), kind: "put" }], followsKeys: true, blocks });
    expect(corrections().slice(0, 3)).toEqual([undefined, undefined, undefined]);
  });

  test("that the index has replaced already are in the trie until their block says that they are deleted", () => {
    // The rows are ahead of the trie.
    index.apply({ ops: [{ ...merge(second), kind: "put" }], followsKeys: true });
    expect(corrections()).toEqual([undefined, false, undefined, undefined]);
    expect(block(merge(first), [first, true])).toEqual([true, false, undefined, undefined]);
    expect(block(merge(second), [second, true], [first, false])).toEqual(NONE);
  });
});

test("the tries have what is read from the network's state, and what a block, a decision or a guess adds only once a block says so", () => {
  const recordOf = { kind: "put", message: cast(5, "gm").bytes } as const;
  const wallet = ownsWallet(5);
  const decision = { seqnum: 9, decidedAt: DEFAULT_NOW_SECS };
  const claim = { kind: "claim", message: wallet.bytes, decision, isForced: true } as const;
  const proof = { kind: "proof", added: fname(5, "one").bytes } as const;
  const registration = { kind: "registration", event: registers("books", walletOf(5)).bytes } as const;
  const after = (op: RelayedOp, key: Uint8Array | undefined) => {
    using db = indexAfter({ keepsRoots: true, followsKeys: true, ops: [op] });
    return key && correction(db, 1, key);
  };
  const keyOf = (record: EncodedRecord) => keysOfSigned(expectOk(decodeMessage(record.bytes)))[0];
  const nameKey = fnameKeyOf(5, Buffer.from("one"));
  const eventKey = onChainKey(registration.event);
  const state = { happenedAt: 0 };
  const [known, missing] = [undefined, false];
  expect(after({ ...recordOf, ...state }, keyOf(cast(5, "gm")))).toBe(known);
  expect(after({ ...recordOf, happenedAt: DEFAULT_NOW_SECS }, keyOf(cast(5, "gm")))).toBe(missing);
  expect(after({ ...claim, ...state }, keyOf(wallet))).toBe(missing);
  expect(after({ ...proof, ...state }, nameKey)).toBe(known);
  expect(after({ ...proof, isShownOnly: true, ...state }, nameKey)).toBe(missing);
  expect(after({ ...registration, decision: undefined, ...state }, eventKey)).toBe(missing);
});

test("an fname that comes again stays in the trie, and one that moves or leaves has left it", () => {
  const proofOf = (fid: number, ageSecs: number) => fname(fid, "one", ageSecs).bytes;
  const keyOf = (fid: number) => fnameKeyOf(fid, Buffer.from("one")) as Uint8Array;
  const { db, apply } = startIndex(true);
  using _ = db;
  let number = 8;
  /** Returns which keys the rows do not say after a block that inserts and deletes some. */
  const correctedAfter = (
    proof: { readonly added?: Uint8Array; readonly removed?: Uint8Array },
    ...records: readonly (readonly [fid: number, isPresent: boolean])[]
  ) => {
    const keyRecords = packBytes(
      records.map(([fid, isPresent]) => encodeKeyRecord({ kind: "key", key: keyOf(fid), isPresent })),
    );
    const part = { number, time: DEFAULT_NOW_SECS, ops: 1, keyRecords };
    const ops = [{ kind: "proof" as const, ...proof, happenedAt: DEFAULT_NOW_SECS }];
    apply({ ops, followsKeys: true, blocks: { ...BLOCK, first: number, last: number++, parts: [part] } });
    return [1, 2].filter((fid) => correction(db, 1, keyOf(fid)) !== undefined);
  };
  const first = { added: proofOf(1, 10) };
  expect(correctedAfter(first, [1, true])).toEqual([]);
  expect(correctedAfter(first, [1, true])).toEqual([]);
  expect(correctedAfter(first)).toEqual([]);
  expect(correctedAfter({ added: proofOf(2, 5) }, [1, false], [2, true])).toEqual([]);
  expect(correctedAfter({ removed: proofOf(2, 5) }, [2, false])).toEqual([]);
  // The rows have lost it, of which no block says anything.
  expect(correctedAfter(first)).toEqual([1]);
  expect(correctedAfter({ added: proofOf(2, 5) }, [2, true])).toEqual([]);
  // The rows lose a name that the trie keeps.
  expect(correctedAfter({ removed: proofOf(2, 5) })).toEqual([2]);
});

test("an opaque child that was read again is stored with what its batch changes", () => {
  const { db, apply } = startIndex(true);
  using _ = db;
  const account = accountPrefix(5);
  const child = { shard: 1, account, nibble: 15, root: new Uint8Array(20).fill(1), keys: 3 };
  apply({ ops: [{ kind: "opaque", child, happenedAt: 0 }] });
  expect(opaqueChildren(db, 1, account)).toMatchObject([{ nibble: 15, keys: 3 }]);
  expect(storedAccount(db, 1, account)).toBeDefined();
});
