import { expect, test } from "bun:test";
import { confirmedEventsOf } from "../../src/db/index/confirmed-events.ts";
import { shardCount } from "../../src/db/index/counts/totals.ts";
import { readFollowedFids } from "../../src/db/index/identity.ts";
import { missingEventBlocks } from "../../src/db/index/log/event-blocks.ts";
import { correction, setCorrection } from "../../src/db/index/trie/corrections.ts";
import { areKeysKnown, keysKnownFrom, setKeysKnown } from "../../src/db/index/trie/known-keys.ts";
import { hasStoredRoots, setRootsComputed } from "../../src/db/index/trie/shard-proofs.ts";
import { type UnknownRecord, unknownAfter } from "../../src/db/index/unknown-records.ts";
import { chainHeadOf, journaledBlocksAfter, todoAfter } from "../../src/db/index/upstream-work.ts";
import { MAX_EVENT_AGE_SECS } from "../../src/ingest/events.ts";
import { markRelayedBlocks, opsWithBlocks, writeProgress } from "../../src/ingest/relay-progress.ts";
import type { RelayedBatch, SingleOp } from "../../src/ingest/relayed-op.ts";
import { MessageType } from "../../src/protocol/wire/generated/message.ts";
import { messageKey } from "../../src/trust/trie-key.ts";
import { updates } from "../support/channel-records.ts";
import { DEFAULT_NOW_SECS } from "../support/messages.ts";
import { accountRecords, startTestNode } from "../support/node.ts";
import { cast } from "../support/records.ts";

const op = (fid: number): SingleOp => ({ kind: "fidComplete", fid, happenedAt: 0 });

test("each operation of a batch has the block that it is of, also beside blocks without operations", () => {
  const part = (number: number, ops: number) => ({ number, ops, time: 0 });
  const parts = [part(5, 0), part(6, 2), part(7, 0), part(8, 1), part(9, 0)];
  const blocks = { shard: 1, first: 5, last: 9, parts, isJournal: false };
  const numbered = [...opsWithBlocks({ ops: [op(1), op(2), op(3)], blocks })];
  expect(numbered).toEqual([
    [op(1), { shard: 1, number: 6 }],
    [op(2), { shard: 1, number: 6 }],
    [op(3), { shard: 1, number: 8 }],
  ]);
});

test("operations of no block have none", () => {
  expect([...opsWithBlocks({ ops: [op(1)] })]).toEqual([[op(1), undefined]]);
});

test("an index without messages takes the number of shards of what it follows, one with messages keeps its own", () => {
  using node = startTestNode();
  const of = (shards: number) => {
    node.db.transaction(() => writeProgress(node.db, { ops: [], positions: [], shards }, 0));
    return shardCount(node.db);
  };
  expect([shardCount(node.db), of(2), of(3)]).toEqual([1, 2, 3]);
  node.ingestAll([...accountRecords(1), cast(1, "first")]);
  expect(of(2)).toBe(3);
});

test("following that starts over forgets work, decisions, roots and which keys are known; keys stay where there are messages", () => {
  const { root, height } = { root: new Uint8Array(20), height: 7 };
  const key = messageKey(1, MessageType.MESSAGE_TYPE_KEY_ADD, root);
  const decided = updates(1, "books", { name: "Books" }).bytes;
  for (const hasMessages of [false, true]) {
    using node = startTestNode();
    const { db } = node;
    if (hasMessages) node.ingestAll([...accountRecords(1), cast(1, "first")]);
    const decision = { seqnum: 5, decidedAt: DEFAULT_NOW_SECS };
    node.relay([{ kind: "channel", message: decided, decision, happenedAt: 0 }]);
    const slot = () =>
      db.sqlite.query<{ seqnum: number }, []>("SELECT seqnum FROM channel_slots").get()?.seqnum;
    expect(slot()).toBe(5);
    const progress = (batch: Partial<RelayedBatch>) =>
      db.transaction(() => writeProgress(db, { ops: [], positions: [], ...batch }, 0));
    progress({ todo: [3], journal: { shard: 1, blocks: [{ block: height, bytes: root }] } });
    db.transaction(() => {
      setCorrection(db, 1, key, true);
      setKeysKnown(db, 1, height);
      setRootsComputed(db, undefined);
    });
    progress({ startsOver: true, todo: [4] });
    expect([todoAfter(db, 0, 9), journaledBlocksAfter(db, 1, 0, 9)]).toEqual([[4], []]);
    expect([areKeysKnown(db), hasStoredRoots(db), slot()]).toEqual([false, false, -1]);
    expect(correction(db, 1, key)).toBe(hasMessages ? true : undefined);
  }
});

test("a batch that does not say which fids are followed, or mentions an fid again, leaves that as it was", () => {
  using node = startTestNode();
  const { db } = node;
  const progress = (batch: Partial<RelayedBatch>) =>
    db.transaction(() => writeProgress(db, { ops: [], positions: [], ...batch }, 0));
  progress({ followed: new Set([1, 5]), mentioned: [7] });
  expect([readFollowedFids(db), todoAfter(db, 0, 9)]).toEqual([new Set([1, 5]), [7]]);
  node.relay([op(7)]);
  progress({ mentioned: [7, 8] });
  expect([readFollowedFids(db), todoAfter(db, 0, 9)]).toEqual([new Set([1, 5]), [8]]);
});

test("a batch stores the events that two nodes confirm, the records of unknown kinds, the newest blocks, and from which block keys are known", () => {
  using node = startTestNode();
  const { db } = node;
  const progress = (batch: Partial<RelayedBatch>) =>
    db.transaction(() => writeProgress(db, { ops: [], positions: [], ...batch }, DEFAULT_NOW_SECS));
  const confirmed = { type: 3, fid: 1, fingerprint: new Uint8Array(32), confirmedAt: DEFAULT_NOW_SECS };
  const unknown: UnknownRecord = {
    kind: "message",
    ...{ number: 99, shard: 1, block: 7, position: 1 },
    bytes: Uint8Array.of(1, 2),
  };
  const head = {
    ...{ shard: 1, height: 7, timestamp: 5, certified: 1 },
    ...{ hash: new Uint8Array(32), root: new Uint8Array(20) },
  };
  progress({ confirmed: [confirmed], unknown: [unknown], heads: [head], keysKnown: [{ shard: 1, from: 7 }] });
  expect(chainHeadOf(db, 1)).toEqual(head);
  expect(confirmedEventsOf(db, 1, 3)).toEqual(confirmed);
  expect(keysKnownFrom(db, 1)).toBe(7);
  const kept = unknownAfter(db, 0, 9);
  expect(kept).toMatchObject([unknown]);
  progress({ recovered: kept.map(({ id }) => id) });
  expect(unknownAfter(db, 0, 9)).toEqual([]);
});

test("the events of blocks that were journaled during a fill are missing, and otherwise those of blocks that were old", () => {
  const missingAfter = (isJournal: boolean, time: number) => {
    using node = startTestNode();
    const parts = [
      { number: 7, ops: 0, time },
      { number: 8, ops: 0, time: DEFAULT_NOW_SECS },
    ];
    const blocks = { shard: 1, first: 6, last: 9, parts, isJournal };
    node.db.transaction(() => markRelayedBlocks(node.db, blocks, DEFAULT_NOW_SECS));
    return missingEventBlocks(node.db).get(1);
  };
  expect(missingAfter(true, DEFAULT_NOW_SECS)).toBe(9);
  expect(missingAfter(false, DEFAULT_NOW_SECS - MAX_EVENT_AGE_SECS - 1)).toBe(7);
  // An index that follows from here on has none of the events before.
  expect(missingAfter(false, DEFAULT_NOW_SECS)).toBe(5);
});
