import { describe, expect, test } from "bun:test";
import { setShardCount } from "../../src/db/index/counts/totals.ts";
import { missingEventBlocks } from "../../src/db/index/log/event-blocks.ts";
import { appendHubBlock } from "../../src/db/index/log/hub-log.ts";
import { eventsAfter, outboxBacklog, publishedSeq } from "../../src/db/index/log/outbox.ts";
import { createIngestEngine } from "../../src/ingest/engine.ts";
import { createLogRetention } from "../../src/ingest/thread/log-retention.ts";
import { firstEventId } from "../../src/protocol/hub-event-id.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { nowSecs } from "../../src/runtime/clock.ts";
import { DEFAULT_TIMESTAMP } from "../support/messages.ts";
import { accountRecords, startTestNode } from "../support/node.ts";
import { cast } from "../support/records.ts";

const RETENTION_SECS = 3600;

function startRetention(sliceEvents: number, retentionSecs = RETENTION_SECS) {
  const node = startTestNode();
  node.ingestAll(accountRecords(1));
  const { db, clock } = node;
  const secs = { outboxSecs: retentionSecs, hubLogSecs: retentionSecs };
  const retention = createLogRetention({ db, clock, ...secs, sliceEvents });
  const add = (...texts: string[]) => node.merge(texts.map((text) => cast(1, text)));
  const seqs = () => eventsAfter(db, 0, 1000).map(({ seq }) => seq);
  return { node, retention, add, seqs, [Symbol.dispose]: () => node[Symbol.dispose]() };
}

test("a published event stays until its retention ends; an unpublished one stays beyond it", () => {
  using fixture = startRetention(10);
  const { node, retention, add, seqs } = fixture;
  add("a", "b", "c");
  retention.markPublished(2);
  expect([seqs(), publishedSeq(node.db)]).toEqual([[1, 2, 3], 2]);
  node.clock.advanceSecs(RETENTION_SECS);
  for (let at = 0; at < 3; at++) retention.sweep();
  expect(seqs()).toEqual([1, 2, 3]);
  node.clock.advanceSecs(1);
  for (let at = 0; at < 3; at++) retention.sweep();
  expect(seqs()).toEqual([3]);
  expect(outboxBacklog(node.db).events).toBe(1);
});

test("a backlog of expired events is deleted in slices, one for each interval, until none is left", () => {
  using fixture = startRetention(2);
  const { node, retention, add, seqs } = fixture;
  add("a", "b", "c", "d", "e", "f", "g");
  retention.markPublished(6);
  node.clock.advanceSecs(RETENTION_SECS + 1);
  retention.sweep();
  const counts = Array.from({ length: 5 }, () => {
    retention.sweep();
    return seqs().length;
  });
  expect(counts).toEqual([5, 3, 1, 1, 1]);
  retention.markPublished(7);
  expect(seqs()).toEqual([]);
});

test("the outbox by itself commits once in an interval, and not at all without anything to do", () => {
  using fixture = startRetention(1);
  const { node, retention, add, seqs } = fixture;
  add("a", "b", "c");
  node.clock.advanceSecs(RETENTION_SECS + 1);
  retention.markPublished(3);
  expect(seqs()).toEqual([2, 3]);
  retention.sweep();
  expect(seqs()).toEqual([2, 3]);
  retention.sweep();
  retention.sweep();
  expect(seqs()).toEqual([]);
  const changes = () => node.db.sqlite.query("SELECT total_changes() AS n").get();
  const before = changes();
  for (let at = 0; at < 3; at++) retention.sweep();
  expect(changes()).toEqual(before);
});

test("once an event of a followed block is deleted, the events up to that block count as missing", () => {
  using node = startTestNode();
  const { db, clock } = node;
  const engine = createIngestEngine({
    db,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    clock,
    onFault: (cause) => {
      throw cause;
    },
  });
  const secs = { outboxSecs: RETENTION_SECS, hubLogSecs: RETENTION_SECS };
  const retention = createLogRetention({ db, clock, ...secs, sliceEvents: 1 });
  const happenedAt = nowSecs(clock);
  engine.applyRelayed({
    ops: ["a", "b"].map((text) => ({ kind: "merge", message: cast(1, text).bytes, deleted: [], happenedAt })),
    blocks: {
      shard: 1,
      first: 7,
      last: 8,
      parts: [7, 8].map((number) => ({ number, time: happenedAt, ops: 1 })),
      isJournal: false,
    },
    positions: [],
  });
  retention.markPublished(2);
  expect(missingEventBlocks(db)).toEqual(new Map([[1, 6]]));
  clock.advanceSecs(RETENTION_SECS + 1);
  retention.sweep();
  retention.sweep();
  expect(missingEventBlocks(db)).toEqual(new Map([[1, 7]]));
  retention.sweep();
  expect(missingEventBlocks(db)).toEqual(new Map([[1, 8]]));
});

test("the position never moves back", () => {
  using fixture = startRetention(10);
  const { node, retention, add } = fixture;
  add("a", "b");
  retention.markPublished(2);
  retention.markPublished(1);
  expect(publishedSeq(node.db)).toBe(2);
});

test("without room the logs shrink to one hour, in slices; unpublished events stay", () => {
  using fixture = startRetention(2, 24 * 3600);
  const { node, retention, add, seqs } = fixture;
  add("a", "b", "c", "d");
  retention.markPublished(4);
  node.clock.advanceSecs(3601);
  node.merge(["e", "f"].map((text) => cast(1, text, DEFAULT_TIMESTAMP + 3601)));
  retention.markPublished(5);
  for (let at = 0; at < 3; at++) retention.sweep();
  expect(seqs()).toEqual([1, 2, 3, 4, 5, 6]);
  expect([retention.shrink(), seqs()]).toEqual([true, [3, 4, 5, 6]]);
  expect([retention.shrink(), seqs()]).toEqual([true, [5, 6]]);
  expect([retention.shrink(), seqs()]).toEqual([false, [5, 6]]);
  node.clock.advanceSecs(3601);
  expect([retention.shrink(), seqs()]).toEqual([true, [6]]);
  expect([retention.shrink(), seqs()]).toEqual([false, [6]]);
});

describe("blocks of the log of hub events", () => {
  /** Two shards with a block in each second. */
  function startLog(hubLogSecs: number, sliceEvents = 1000) {
    const node = startTestNode();
    const { db, clock } = node;
    const event = { type: 1, fid: 1, body: new Uint8Array() };
    const append = (shard: number, height: number, at: number) =>
      appendHubBlock(db, {
        ...{ shard, height, at: DEFAULT_TIMESTAMP + at, hash: new Uint8Array(), seqnum: 0 },
        events: [{ ...event, id: firstEventId(height) + 1 }],
      });
    db.transaction(() => {
      setShardCount(db, 2);
      for (const shard of [1, 2]) for (let n = 1; n <= 4; n++) append(shard, n, n);
    });
    const retention = createLogRetention({ db, clock, outboxSecs: 3600, hubLogSecs, sliceEvents });
    const heights = () =>
      [1, 2].map((shard) =>
        db.sqlite
          .query<{ height: number }, [number]>("SELECT height FROM hub_blocks WHERE shard = ? ORDER BY 1")
          .all(shard)
          .map(({ height }) => height),
      );
    return { clock, retention, heights, [Symbol.dispose]: () => node[Symbol.dispose]() };
  }

  test("are deleted in each shard once they are older than its retention", () => {
    using log = startLog(100);
    log.clock.advanceSecs(101);
    log.retention.sweep();
    expect(log.heights()).toEqual([
      [1, 2, 3, 4],
      [1, 2, 3, 4],
    ]);
    log.clock.advanceSecs(2);
    log.retention.sweep();
    expect(log.heights()).toEqual([
      [3, 4],
      [3, 4],
    ]);
    log.clock.advanceSecs(1);
    log.retention.markPublished(0);
    expect(log.heights()).toEqual([[4], [4]]);
  });

  test("are deleted in slices of events", () => {
    using log = startLog(100, 3);
    log.clock.advanceSecs(1000);
    log.retention.sweep();
    expect(log.heights().flat().length).toBeGreaterThan(0);
    for (let n = 0; n < 8; n++) log.retention.sweep();
    expect(log.heights()).toEqual([[], []]);
  });

  test("of more than an hour are deleted where the index has no room, and of a shorter retention before", () => {
    using log = startLog(86_400);
    log.clock.advanceSecs(3602);
    expect([log.retention.shrink(), log.heights()[0]]).toEqual([true, [2, 3, 4]]);
    expect(log.retention.shrink()).toBe(false);
    using shorter = startLog(100);
    shorter.clock.advanceSecs(103);
    expect([shorter.retention.shrink(), shorter.heights()[0]]).toEqual([true, [3, 4]]);
  });
});
