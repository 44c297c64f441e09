import { describe, expect, test } from "bun:test";
import { type IndexDatabase, openIndexInMemory } from "../../../src/db/index/database.ts";
import {
  appendHubBlock,
  endHubLog,
  hubLogRange,
  isHubSweepDue,
  sweepHubLog,
} from "../../../src/db/index/log/hub-log.ts";
import { firstEventId } from "../../../src/protocol/hub-event-id.ts";
import { HubEventType } from "../../../src/protocol/wire/generated/hub.ts";

const SHARD = 1;

/** Appends a block whose time is its height, with that many events. */
function append(db: IndexDatabase, height: number, events = 1): boolean {
  const ids = Array.from({ length: events }, (_, at) => firstEventId(height) + at + 1);
  return db.transaction(() =>
    appendHubBlock(db, {
      shard: SHARD,
      height,
      at: height,
      hash: new Uint8Array(),
      seqnum: 0,
      events: ids.map((id) => ({
        id,
        type: HubEventType.HUB_EVENT_TYPE_MERGE_MESSAGE,
        fid: 1,
        body: new Uint8Array(3),
      })),
    }),
  );
}

const heights = (db: IndexDatabase) =>
  db.sqlite
    .query<{ height: number }, []>("SELECT height FROM hub_blocks ORDER BY height")
    .all()
    .map(({ height }) => height);
const eventCount = (db: IndexDatabase) =>
  db.sqlite.query<{ n: number }, []>("SELECT count(*) AS n FROM hub_events").get()?.n;

describe("appendHubBlock", () => {
  test("a block that the log has had changes nothing", () => {
    using db = openIndexInMemory();
    expect([append(db, 5), append(db, 6), append(db, 6), append(db, 5)]).toEqual([true, true, false, false]);
    expect(heights(db)).toEqual([5, 6]);
    expect(hubLogRange(db, SHARD)).toEqual({ oldestId: firstEventId(5), headId: firstEventId(6) + 1 });
  });

  test("a block after a hole begins the log again", () => {
    using db = openIndexInMemory();
    for (const height of [5, 6, 9, 10]) append(db, height, 0);
    expect(hubLogRange(db, SHARD)).toEqual({ oldestId: firstEventId(9), headId: firstEventId(10) });
  });
});

describe("endHubLog", () => {
  test("hides the blocks so far, and the next block begins the log again", () => {
    using db = openIndexInMemory();
    append(db, 5);
    db.transaction(() => endHubLog(db));
    const empty = hubLogRange(db, SHARD);
    expect(empty && empty.oldestId > empty.headId).toBe(true);
    append(db, 6);
    expect(hubLogRange(db, SHARD)?.oldestId).toBe(firstEventId(6));
  });

  test("leaves an index without a log as it is", () => {
    using db = openIndexInMemory();
    db.transaction(() => endHubLog(db));
    expect(hubLogRange(db, SHARD)).toBeUndefined();
  });
});

describe("sweepHubLog", () => {
  test("deletes whole blocks that are older, at most a batch of events at a time but at least one block", () => {
    using db = openIndexInMemory();
    append(db, 1, 50);
    for (const height of [2, 3, 4, 5]) append(db, height, 4);
    const sweep = () => db.transaction(() => sweepHubLog(db, SHARD, { before: 4, maxEvents: 10 }));
    expect([sweep(), sweep(), sweep()]).toEqual([51, 10, 0]);
    expect(heights(db)).toEqual([4, 5]);
    expect(eventCount(db)).toBe(10);
    expect(hubLogRange(db, SHARD)?.oldestId).toBe(firstEventId(4));
  });

  test("deletes what precedes the start of the log, however new it is", () => {
    using db = openIndexInMemory();
    for (const height of [1, 2, 9]) append(db, height);
    expect(isHubSweepDue(db, SHARD, 0)).toBe(true);
    db.transaction(() => sweepHubLog(db, SHARD, { before: 0, maxEvents: 100 }));
    expect(heights(db)).toEqual([9]);
    expect(isHubSweepDue(db, SHARD, 0)).toBe(false);
    expect(hubLogRange(db, SHARD)?.oldestId).toBe(firstEventId(9));
  });

  test("an empty log continues without a hole", () => {
    using db = openIndexInMemory();
    append(db, 1);
    db.transaction(() => sweepHubLog(db, SHARD, { before: 2, maxEvents: 100 }));
    expect(eventCount(db)).toBe(0);
    append(db, 2);
    expect(hubLogRange(db, SHARD)?.oldestId).toBe(firstEventId(2));
  });
});
