import { describe, expect, test } from "bun:test";
import { fidOfOwner } from "../../src/db/index/channels/owner-claims.ts";
import { openIndexInMemory } from "../../src/db/index/database.ts";
import { getPosition } from "../../src/db/index/positions.ts";
import { journaledBlocksAfter, todoAfter } from "../../src/db/index/upstream-work.ts";
import { StorageError } from "../../src/db/sqlite/storage-error.ts";
import { createIngestEngine } from "../../src/ingest/engine.ts";
import type { MessageRef, RelayedBatch, RelayedOp } from "../../src/ingest/relayed-op.ts";
import { slotOf } from "../../src/protocol/message/merge-rules.ts";
import { decodeMessage, type SignedMessage } from "../../src/protocol/message/signed-message.ts";
import {
  type CastAddBody,
  type DeepPartial,
  FarcasterNetwork,
  MessageType,
  ReactionType,
} from "../../src/protocol/wire/generated/message.ts";
import { OnChainEvent } from "../../src/protocol/wire/generated/on-chain.ts";
import { ManualClock } from "../support/clock.ts";
import { dumpIndex } from "../support/dump.ts";
import { registerEvent, signerEvent, transferEvent } from "../support/events.ts";
import { liveHashes } from "../support/live-messages.ts";
import {
  DEFAULT_NOW_SECS,
  DEFAULT_TIMESTAMP,
  makeWallet,
  signedCast,
  signMessage,
} from "../support/messages.ts";
import { accountSigner } from "../support/node.ts";
import { expectOk } from "../support/result.ts";
import { linkMessage, reactionMessage } from "../support/social.ts";

/** An index that relayed operations are written to. */
function startIndex() {
  const db = openIndexInMemory();
  const faults: string[] = [];
  const engine = createIngestEngine({
    db,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    clock: new ManualClock(DEFAULT_NOW_SECS),
    onFault: (cause) => faults.push(String(cause)),
  });
  const write = (batch: Partial<RelayedBatch>) => engine.applyRelayed({ ops: [], positions: [], ...batch });
  return {
    db,
    faults,
    write,
    relay: (...ops: RelayedOp[]) => write({ ops }),
    hashes: () => liveHashes(db),
    [Symbol.dispose]: () => db[Symbol.dispose](),
  };
}

const AT = { happenedAt: 0 } as const;
const merge = (message: Uint8Array, ...deleted: Uint8Array[]): RelayedOp => ({
  kind: "merge",
  message,
  deleted: deleted.map(refOf),
  ...AT,
});
const hold = (message: Uint8Array): RelayedOp => ({ kind: "put", message, ...AT });
const drop = (message: Uint8Array): RelayedOp => ({ kind: "remove", ref: refOf(message), ...AT });

function signed(bytes: Uint8Array): SignedMessage {
  return expectOk(decodeMessage(bytes));
}

function refOf(bytes: Uint8Array): MessageRef {
  const message = signed(bytes);
  const { store, slot } = slotOf(message);
  return { fid: message.data.fid, store, slot, hash: message.hash };
}

const hex = (bytes: Uint8Array) => signed(bytes).hash.toHex();

function compactState(fid: number, targetFids: number[], at: number): Uint8Array {
  return signMessage(
    {
      type: MessageType.MESSAGE_TYPE_LINK_COMPACT_STATE,
      fid,
      timestamp: at,
      body: { $case: "linkCompactStateBody", value: { type: "follow", targetFids } },
    },
    accountSigner(fid),
  );
}

describe("relayed operations", () => {
  const like = (at: number, remove = false) =>
    reactionMessage(
      1,
      ReactionType.REACTION_TYPE_LIKE,
      { fid: 2, hash: `0x${"ab".repeat(20)}` },
      { at, remove },
    );

  test("produce the upstream's state in its order, also if they are repeated over a later state", () => {
    const [first, unlike, last] = [like(10), like(11, true), like(12)];
    const log = [merge(first), merge(unlike, first), merge(last, unlike), drop(last), merge(unlike)];
    using inOrder = startIndex();
    for (const op of log) inOrder.relay(op);
    for (let read = 0; read <= log.length; read++) {
      using other = startIndex();
      for (const op of log.slice(0, read)) other.relay(op);
      for (const op of log) other.relay(op);
      expect(dumpIndex(other.db)).toBe(dumpIndex(inOrder.db));
    }
    expect(inOrder.hashes()).toEqual([hex(unlike)]);
  });

  test("a message that follows a later one of its slot, or is repeated, changes nothing", () => {
    using index = startIndex();
    const [first, last] = [like(10), like(12)];
    index.relay(merge(last));
    const before = dumpIndex(index.db);
    for (const late of [first, last]) {
      index.relay(merge(late));
      expect(index.hashes()).toEqual([hex(last)]);
      expect(dumpIndex(index.db)).toBe(before);
    }
  });

  test("a live message replaces another in its slot, even if the other would win", () => {
    using index = startIndex();
    index.relay(merge(like(20)));
    index.relay(hold(like(10)));
    expect(index.hashes()).toEqual([hex(like(10))]);
  });

  test("a cast that arrives after what refers to it, is removed and returns gives the state of an ordered arrival", () => {
    const parentUrl = "https://a.example";
    const bodyOf = (value: DeepPartial<CastAddBody>) => ({ $case: "castAddBody" as const, value });
    const castOf = (fid: number, at: number, value: DeepPartial<CastAddBody>) =>
      signMessage(
        { type: MessageType.MESSAGE_TYPE_CAST_ADD, fid, timestamp: at, body: bodyOf(value) },
        accountSigner(fid),
      );
    const root = castOf(1, 10, { text: "root", parent: { $case: "parentUrl", value: parentUrl } });
    const refOf = (message: Uint8Array) => ({ fid: 1, hash: signed(message).hash });
    const reply = castOf(2, 20, { text: "re", parent: { $case: "parentCastId", value: refOf(root) } });
    const quote = castOf(3, 30, {
      text: "look",
      mentions: [1],
      mentionsPositions: [0],
      embeds: [{ embed: { $case: "castId", value: refOf(root) } }],
    });
    const target = { fid: 1, hash: `0x${hex(root)}` as const };
    const liked = reactionMessage(2, ReactionType.REACTION_TYPE_LIKE, target, { at: 40 });
    const wrong = reactionMessage(3, ReactionType.REACTION_TYPE_LIKE, { ...target, fid: 2 }, { at: 40 });
    const others = [reply, quote, liked, wrong];
    using inOrder = startIndex();
    inOrder.relay(...[root, ...others].map(hold));
    using removed = startIndex();
    removed.relay(...others.map(hold));
    using index = startIndex();
    for (const other of others) index.relay(hold(other));
    for (let times = 0; times < 2; times++) {
      expect(dumpIndex(index.db)).toBe(dumpIndex(removed.db));
      index.relay(hold(root));
      expect(dumpIndex(index.db)).toBe(dumpIndex(inOrder.db));
      index.relay(drop(root));
    }
    // The rows of what nothing names any more go with the last one that named it.
    index.relay(...others.map(drop));
    expect(index.db.sqlite.query("SELECT * FROM missing_casts").all()).toEqual([]);
    expect(index.db.sqlite.query("SELECT * FROM urls").all()).toEqual([]);
    expect(index.db.sqlite.query("SELECT * FROM envelopes").all()).toEqual([]);
  });

  test("rows that name a late cast and exceed the bound of a commit are moved by the following ones", () => {
    const late = signedCast(1, "late", accountSigner(1));
    const target = { fid: 1, hash: `0x${hex(late)}` as const };
    const likes = [2, 3, 4].map((fid) => reactionMessage(fid, ReactionType.REACTION_TYPE_LIKE, target));
    using index = startIndex();
    index.db.repoints.rowsPerTransaction = 1;
    index.relay(...likes.map((like) => merge(like)));
    index.relay(merge(late));
    expect(index.db.repoints.areAny(index.db)).toBe(true);
    for (let commit = 0; commit < 3; commit++) index.relay();
    expect(index.db.repoints.areAny(index.db)).toBe(false);
    using inOrder = startIndex();
    inOrder.relay(merge(late), ...likes.map((like) => merge(like)));
    expect(dumpIndex(index.db)).toBe(dumpIndex(inOrder.db));
  });

  test("are not checked for a registered fid, an active key or storage", () => {
    using index = startIndex();
    const cast = signedCast(77, "nobody knows me", accountSigner(77));
    index.relay(merge(cast));
    expect(index.hashes()).toEqual([hex(cast)]);
  });

  test("what the upstream deletes for a message goes, whatever its slot", () => {
    using index = startIndex();
    const other = linkMessage(1, "follow", 3, { at: 20 });
    index.relay(merge(other), merge(like(20), other));
    expect(index.hashes()).toEqual([hex(like(20))]);
  });

  test("a message is removed by its hash: another message in its slot remains", () => {
    using index = startIndex();
    index.relay(merge(like(20)), drop(like(10)));
    expect(index.hashes()).toEqual([hex(like(20))]);
  });

  test("a compact state removes its links again if they were repeated before it", () => {
    using index = startIndex();
    const [kept, gone, undone] = [2, 3, 4].map((target) => linkMessage(1, "follow", target, { at: 5 }));
    const unfollow = linkMessage(1, "follow", 5, { at: 6, remove: true });
    const state = compactState(1, [2], 10);
    const later = linkMessage(1, "follow", 3, { at: 11 });
    const log = [kept, gone, undone, unfollow, state, later].map((message) => merge(message ?? state));
    index.relay(...log);
    const expected = [kept, state, later].map((message) => hex(message ?? state)).sort();
    expect(index.hashes().sort()).toEqual(expected);
    index.relay(...log);
    expect(index.hashes().sort()).toEqual(expected);
  });

  test("a compact state leaves the links in place that its block left, and no others that it does not list", () => {
    using index = startIndex();
    const [listed, left, removed] = [2, 3, 4].map((target) => linkMessage(1, "follow", target, { at: 10 }));
    if (!listed || !left || !removed) throw new Error("three links");
    const state = compactState(1, [2], 20);
    index.relay(merge(listed), merge(left), merge(removed));
    index.relay({ ...merge(state), spared: [signed(left).hash] } as RelayedOp);
    expect(index.hashes().sort()).toEqual([listed, left, state].map(hex).sort());
  });

  test("a compact state that is read from the upstream's state removes no links", () => {
    using index = startIndex();
    const equallyLate = linkMessage(1, "follow", 3, { at: 10 });
    index.relay(hold(equallyLate), hold(compactState(1, [2], 10)));
    expect(index.hashes().length).toBe(2);
  });

  test("a lend of 0 units ends the one before it and is not stored", () => {
    using index = startIndex();
    const lend = (numUnits: number, at: number) =>
      signMessage(
        {
          type: MessageType.MESSAGE_TYPE_LEND_STORAGE,
          fid: 1,
          timestamp: at,
          body: { $case: "lendStorageBody", value: { toFid: 2, numUnits, unitType: 2 } },
        },
        accountSigner(1),
      );
    for (const end of [merge(lend(0, 11), lend(5, 10)), hold(lend(0, 11))]) {
      index.relay(merge(lend(5, 10)));
      expect(index.hashes()).toHaveLength(1);
      index.relay(end);
      expect(index.hashes()).toEqual([]);
    }
  });

  test("a live verification of the upstream's state names the owner of an address until a later one does", () => {
    using index = startIndex();
    const { address } = makeWallet("owner of a channel");
    const claim = (fid: number, timestamp: number) =>
      index.relay({ kind: "claimState", fid, address, timestamp, happenedAt: 0 });
    expect(fidOfOwner(index.db, address)).toBe(0);
    claim(5, 10);
    claim(6, 20);
    expect(fidOfOwner(index.db, address)).toBe(6);
  });

  test("a message renews the gasless key that signed it", () => {
    using index = startIndex();
    const cast = signedCast(1, "still in use", accountSigner(1), { timestamp: DEFAULT_TIMESTAMP });
    const key = {
      key: accountSigner(1).publicKey,
      fid: 1,
      requestFid: 9,
      scopes: [1],
      ttlSecs: 60,
      nonce: 1,
    };
    const usedAt = () =>
      index.db.sqlite.query<{ at: number }, []>("SELECT last_used_at AS at FROM gasless_keys").get()?.at;
    // A message that comes ahead of its key changes nothing for those after it.
    index.relay(merge(signedCast(1, "ahead", accountSigner(1), { timestamp: DEFAULT_TIMESTAMP })));
    index.relay({ kind: "key", key: { ...key, addedAt: 100, lastUsedAt: 100 }, ...AT });
    index.relay(merge(cast));
    expect(usedAt()).toBe(DEFAULT_NOW_SECS);
    index.relay({ kind: "key", key: { ...key, addedAt: 200, lastUsedAt: 200 }, ...AT });
    expect(usedAt()).toBe(DEFAULT_NOW_SECS);
    index.relay({ kind: "removeKey", fid: 2, key: key.key, ...AT });
    expect(usedAt()).toBe(DEFAULT_NOW_SECS);
    index.relay({ kind: "removeKey", fid: 1, key: key.key, ...AT });
    expect(usedAt()).toBeUndefined();
  });
});

describe("on-chain events", () => {
  const custody = (seed: string) => makeWallet(seed).address;
  const put = (event: OnChainEvent): RelayedOp => ({
    kind: "onChainEvent",
    event: OnChainEvent.encode(event).finish(),
    ...AT,
  });

  test("the remaining events decide the fid's state after a removal, and without events the fid is unknown", () => {
    using index = startIndex();
    using untouched = startIndex();
    const register = registerEvent(1, custody("a"), { block: 10 });
    const transfer = transferEvent(1, custody("a"), custody("b"), { block: 11 });
    const key = signerEvent(1, accountSigner(1).publicKey, { block: 12 });
    index.relay(put(register), put(transfer), put(key));
    const gone = (ref: OnChainEvent): RelayedOp => ({ kind: "removeOnChainEvent", ref, ...AT });
    index.relay(gone(transfer), gone(key));
    using fewer = startIndex();
    fewer.relay(put(register));
    expect(dumpIndex(index.db)).toBe(dumpIndex(fewer.db));
    index.relay(gone(register));
    expect(dumpIndex(index.db)).toBe(dumpIndex(untouched.db));
  });

  test("a place on the chain has the event that the upstream reported last", () => {
    using index = startIndex();
    index.relay(put(registerEvent(1, custody("a"), { block: 10 })));
    index.relay(put(registerEvent(1, custody("b"), { block: 10 })));
    const row = index.db.sqlite.query<{ custody: Uint8Array }, []>("SELECT custody FROM fids").get();
    expect(row?.custody).toEqual(custody("b"));
  });
});

describe("a batch", () => {
  const cast = signedCast(1, "hello", accountSigner(1));
  const reached = { key: "upstream 1 applied", position: 7 };

  test("writes positions, todo list and journal together with its operations", () => {
    using index = startIndex();
    const block = { block: 7, bytes: Uint8Array.of(1) };
    index.write({
      ops: [merge(cast)],
      positions: [reached],
      journal: { shard: 1, blocks: [block] },
      todo: [3, 4],
    });
    index.write({ ops: [{ kind: "fidComplete", fid: 3, ...AT }], mentioned: [5, 4] });
    expect(getPosition(index.db, reached.key)).toBe(7);
    expect(journaledBlocksAfter(index.db, 1, 0, 9)).toEqual([block]);
    expect(todoAfter(index.db, 0, 9)).toEqual([4, 5]);
    index.write({ discardedJournal: [{ shard: 1, upTo: 7 }], mentioned: [5] });
    expect(journaledBlocksAfter(index.db, 1, 0, 9)).toEqual([]);
    index.write({ startsOver: true });
    expect(todoAfter(index.db, 0, 9)).toEqual([]);
  });

  test("skips and reports an operation that the index cannot store", () => {
    using index = startIndex();
    index.write({ ops: [hold(Uint8Array.of(255)), merge(cast)], positions: [reached] });
    expect(index.hashes()).toEqual([hex(cast)]);
    expect(getPosition(index.db, reached.key)).toBe(7);
    expect(index.faults.length).toBe(1);
  });

  test("is not written at all if the disk is full, and its position does not move", () => {
    using index = startIndex();
    index.db.sqlite.exec(`PRAGMA max_page_count = ${pages(index)}`);
    const casts = Array.from({ length: 500 }, (_, at) =>
      merge(signedCast(1, `cast ${at}`, accountSigner(1))),
    );
    expect(() => index.write({ ops: casts, positions: [reached] })).toThrow(StorageError);
    expect(getPosition(index.db, reached.key)).toBeUndefined();
    expect(index.hashes()).toEqual([]);
    expect(index.faults).toEqual([]);
  });

  function pages({ db }: ReturnType<typeof startIndex>): number {
    return db.sqlite.query<{ page_count: number }, []>("PRAGMA page_count").get()?.page_count ?? 0;
  }
});
