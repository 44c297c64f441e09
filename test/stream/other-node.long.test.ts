import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { type IndexDatabase, indexPath, openIndexWriter } from "../../src/db/index/database.ts";
import { claimNetwork, startReservingHeight } from "../../src/db/index/identity.ts";
import { CommitSequence } from "../../src/db/index/log/commit-sequence.ts";
import { eventRange, eventsAfter, markAllPublished } from "../../src/db/index/log/outbox.ts";
import { createIngestEngine, type IngestEngine } from "../../src/ingest/engine.ts";
import { decodeRecord } from "../../src/ingest/record.ts";
import { createLogRetention } from "../../src/ingest/thread/log-retention.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { readLogPage } from "../../src/stream/log-page.ts";
import {
  cursorOf,
  logEnds,
  positionOf,
  type ResolvedStart,
  resolveStart,
  type StreamPosition,
} from "../../src/stream/position.ts";
import { ManualClock } from "../support/clock.ts";
import { IS_LONG } from "../support/long.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP, signedCast } from "../support/messages.ts";
import { accountRecords, accountSigner } from "../support/node.ts";

const FIDS = [1, 2];
/** Blocks of each of two shards, with the number of casts in each. */
const BLOCKS = 8;
const FIRST = 100;

interface Block {
  readonly shard: number;
  readonly number: number;
  readonly casts: readonly Uint8Array[];
}

interface Follower extends Disposable {
  readonly db: IndexDatabase;
  readonly clock: ManualClock;
  readonly engine: IngestEngine;
  apply(blocks: readonly Block[], options?: { isJournal?: boolean; time?: number }): void;
  /** Each event with the position after it. */
  events(): { text: string; position: StreamPosition }[];
  /** Where a client begins that resumes at a cursor; undefined for a gap. */
  start(cursor: string): ResolvedStart | undefined;
  /** What it gets. */
  resume(cursor: string): string[] | undefined;
}

function startFollower(logId: string): Follower {
  const dir = mkdtempSync(join(tmpdir(), "follower-test-"));
  const db = openIndexWriter(indexPath(dir));
  claimNetwork(db, "mainnet");
  db.transaction(() => startReservingHeight(db, logId, 1));
  const clock = new ManualClock(DEFAULT_NOW_SECS);
  const engine = createIngestEngine({
    db,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    clock,
    onFault: (cause) => {
      throw cause;
    },
  });
  const accounts = FIDS.flatMap((fid) => accountRecords(fid));
  engine.apply(accounts.map(decodeRecord).flatMap((record) => (record.ok ? [record.value] : [])));
  db.transaction(() => markAllPublished(db));

  const page = (after: StreamPosition) =>
    readLogPage(
      {
        db,
        onUnreadable: (_, cause) => {
          throw cause;
        },
      },
      after,
      3,
    );
  function read(from: StreamPosition) {
    const found: {
      text: string;
      position: StreamPosition;
      block: { shard: number; number: number } | null;
    }[] = [];
    for (let at = from; ; ) {
      const { events, end, isOvertaken } = page(at);
      expect(isOvertaken).toBe(false);
      for (const { event, position, block } of events)
        if ("cast" in event) found.push({ text: event.cast.text, position, block });
      if (end.seq === at.seq) return found;
      at = end;
    }
  }

  function start(cursor: string) {
    const ends = logEnds(db);
    const position = positionOf(cursor);
    if (!ends || !position) throw new Error("no log or no cursor");
    const found = resolveStart(db, ends, { from: { kind: "cursor", position }, skipsGap: false }, 0);
    return found.ok ? found.value : undefined;
  }

  return {
    db,
    clock,
    engine,
    start,
    apply(blocks, { isJournal = false, time = DEFAULT_NOW_SECS } = {}) {
      const [first] = blocks;
      const last = blocks.at(-1);
      if (!first || !last) return;
      engine.applyRelayed({
        ops: blocks.flatMap(({ casts }) =>
          casts.map((message) => ({ kind: "merge" as const, message, deleted: [], happenedAt: time })),
        ),
        positions: [],
        blocks: {
          shard: first.shard,
          first: first.number,
          last: last.number,
          parts: blocks.map(({ number, casts }) => ({ number, time, ops: casts.length })),
          isJournal,
        },
      });
    },
    events() {
      const ends = logEnds(db);
      if (!ends) throw new Error("no log");
      return read(ends.oldest);
    },
    resume(cursor) {
      const found = start(cursor);
      if (!found?.position) return undefined;
      const { position, seenBlocks } = found;
      return read(position)
        .filter(({ block }) => !block || block.number > (seenBlocks.get(block.shard) ?? -1))
        .map(({ text }) => text);
    },
    [Symbol.dispose]() {
      db[Symbol.dispose]();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

let serial = 0;
function makeBlocks(counts: readonly number[], shard: number): Block[] {
  return counts.map((count, at) => ({
    shard,
    number: FIRST + at,
    casts: Array.from({ length: count }, (_, n) => {
      const text = `shard ${shard} block ${FIRST + at} cast ${n}`;
      return signedCast(shard, text, accountSigner(shard), {
        timestamp: DEFAULT_TIMESTAMP - 800 + (serial++ % 700),
      });
    }),
  }));
}

/** Applies the blocks of both shards, interleaved and grouped as the numbers say. */
function applyAll(follower: Follower, shards: readonly Block[][], plan: readonly [number, number][]): void {
  const rest = shards.map((blocks) => [...blocks]);
  for (const [shard, count] of plan) follower.apply(rest[shard]?.splice(0, count) ?? []);
  for (const blocks of rest) follower.apply(blocks);
}

const counts = fc.array(fc.nat(3), { minLength: BLOCKS, maxLength: BLOCKS });
const plan = fc.array(fc.tuple(fc.nat(1), fc.integer({ min: 1, max: 3 })), { maxLength: 12 });

describe("a cursor of another node that follows the same one", () => {
  test("resumes after it: nothing is missing, and only events of its own blocks are repeated", () => {
    fc.assert(
      fc.property(counts, counts, plan, plan, fc.nat(), (ofFirst, ofSecond, planA, planB, pick) => {
        using a = startFollower("a".repeat(32));
        using b = startFollower("b".repeat(32));
        const shards = [makeBlocks(ofFirst, 1), makeBlocks(ofSecond, 2)];
        applyAll(a, shards, planA);
        applyAll(b, shards, planB);
        const events = a.events();
        const at = events.length === 0 ? undefined : events[pick % events.length];
        if (!at) return;
        const index = events.indexOf(at);
        const cursor = cursorOf(at.position);
        const first = b.start(cursor)?.position;
        // The cursor of its first frame there, for a client that is cut before an event arrived.
        const atOnce = first && a.resume(cursorOf(first));
        const all = events.map(({ text }) => text);
        const blockOf = (text: string) => text.replace(/ cast.*/, "");
        const open = new Set(
          FIDS.flatMap((shard) => {
            const last = all.slice(0, index + 1).findLast((text) => text.startsWith(`shard ${shard}`));
            return last ? [blockOf(last)] : [];
          }),
        );
        for (const resumed of [b.resume(cursor), atOnce]) {
          if (!resumed) throw new Error("a gap without a reason");
          const missing = all.slice(index + 1).filter((text) => !resumed.includes(text));
          expect(missing).toEqual([]);
          const again = resumed.filter((text) => all.indexOf(text) <= index);
          expect(again.filter((text) => !open.has(blockOf(text)))).toEqual([]);
        }
      }),
      { numRuns: IS_LONG ? 100 : 6 },
    );
  });

  test("of the end of the log resumes without repetition", () => {
    using a = startFollower("a".repeat(32));
    using b = startFollower("b".repeat(32));
    const shards = [makeBlocks([2, 0, 1], 1), makeBlocks([1, 1, 0], 2)];
    applyAll(a, shards, []);
    applyAll(b, shards, [
      [1, 1],
      [0, 2],
    ]);
    const ends = logEnds(a.db);
    expect(ends && b.resume(cursorOf(ends.head))).toEqual([]);
    b.apply(makeBlocks([0, 0, 0, 1], 1).slice(3));
    expect(ends && b.resume(cursorOf(ends.head))).toEqual(["shard 1 block 103 cast 0"]);
  });

  test("resumes before the events that were not on disk when it was given", () => {
    using a = startFollower("a".repeat(32));
    using b = startFollower("b".repeat(32));
    const shards = [makeBlocks([2, 0, 1], 1), makeBlocks([1, 1, 0], 2)];
    for (const one of [a, b]) applyAll(one, shards, []);
    const seqs = eventsAfter(a.db, 0, 100).map(({ seq }) => seq);
    const texts = a.events().map(({ text }) => text);
    a.db.commits = new CommitSequence();
    for (const [at, seq] of seqs.entries()) {
      a.db.commits.moveDurableEnds({ outboxSeq: seq, hubSeq: 0 });
      const head = logEnds(a.db)?.head;
      const read = a.events().map(({ position }) => position);
      expect(read).toHaveLength(at + 1);
      for (const position of [head, read.at(-1)])
        expect(position && b.resume(cursorOf(position))).toEqual(expect.arrayContaining(texts.slice(at + 1)));
    }
  });

  test("is a gap where blocks were not applied in order, or their events are deleted", () => {
    using a = startFollower("a".repeat(32));
    const shards = [makeBlocks([1, 1, 1, 1], 1), makeBlocks([1, 1, 1, 1], 2)];
    applyAll(a, shards, [
      [0, 1],
      [1, 1],
      [0, 1],
      [1, 1],
    ]);
    const [, second] = a.events();
    const cursor = cursorOf(second?.position ?? { logId: "", seq: 0, blocks: new Map() });
    const blocks = (from: number, to: number) => shards.map((one) => one.slice(from, to));
    const follow = (apply: (b: Follower) => void) => {
      using b = startFollower("b".repeat(32));
      apply(b);
      return b.resume(cursor);
    };
    expect(follow((b) => applyAll(b, shards, []))).toBeArray();
    // Blocks 101 of both are missing.
    expect(
      follow((b) => {
        applyAll(b, blocks(0, 1), []);
        applyAll(b, blocks(2, 4), []);
      }),
    ).toBeUndefined();
    // Journaled while the state was read.
    expect(
      follow((b) => {
        applyAll(b, blocks(0, 1), []);
        for (const one of blocks(1, 4)) b.apply(one, { isJournal: true });
      }),
    ).toBeUndefined();
    // Applied so late that they cause no events.
    expect(
      follow((b) => {
        for (const one of blocks(0, 4)) b.apply(one, { time: DEFAULT_NOW_SECS - 1000 });
      }),
    ).toBeUndefined();
    // Deleted by retention.
    expect(
      follow((b) => {
        applyAll(b, shards, []);
        markAllPublished(b.db);
        b.clock.advanceSecs(7200);
        const retention = createLogRetention({
          db: b.db,
          clock: b.clock,
          outboxSecs: 3600,
          hubLogSecs: 3600,
        });
        retention.sweep();
        expect(eventsAfter(b.db, 0, 1)).toEqual([]);
        expect(eventRange(b.db).oldestSeq).toBeGreaterThan(1);
      }),
    ).toBeUndefined();
    // A node that follows none, or that follows other shards.
    expect(follow(() => undefined)).toBeUndefined();
  });
});
