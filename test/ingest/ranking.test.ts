import { describe, expect, test } from "bun:test";
import { openBulkBuild } from "../../src/db/index/bulk/open-bulk-build.ts";
import {
  type RankingSnapshot,
  SNAPSHOT_INTERVAL_MS,
  snapshotTimeAt,
  storeRankings,
} from "../../src/db/index/counts/rankings.ts";
import { openIndexInMemory } from "../../src/db/index/database.ts";
import { computeRankings, refreshRankings, startRankingRefresh } from "../../src/ingest/ranking.ts";
import { ReactionType } from "../../src/protocol/wire/generated/message.ts";
import { ManualClock } from "../support/clock.ts";
import { hashFrom, insertCast, type ModelCast, setReaction } from "../support/read-model.ts";
import { ManualTimers } from "../support/timers.ts";

const NOW = 1_700_000_000;
const HOUR_SECS = 3600;
const WINDOW = { snapshot: NOW * 1000, windowHours: 24 };

function indexOf(casts: readonly ModelCast[], likes = 1) {
  const db = openIndexInMemory();
  db.transaction(() => {
    for (const cast of casts) {
      insertCast(db, cast);
      for (let fid = 100; fid < 100 + likes; fid++)
        setReaction(db, { fid, type: ReactionType.REACTION_TYPE_LIKE, target: cast, at: NOW, on: true });
    }
  });
  return db;
}

const inChannel = (channel: string, cast: Omit<ModelCast, "body">): ModelCast => ({
  ...cast,
  body: { parent: { $case: "parentUrl", value: channel } },
});

describe("what ranks alike", () => {
  test("are casts in the order of their times, the newest first, and then of their hashes", () => {
    // Of the future: all of them count as new.
    const casts = [3, 1, 2, 2, 2].map((at, n) => ({ fid: 1, at: NOW + at, hash: hashFrom(`${n}`) }));
    using db = indexOf(casts);
    const expected = casts
      .toSorted((a, b) => b.at - a.at || Buffer.compare(b.hash, a.hash))
      .map(({ hash }) => hash.toHex());
    const { casts: ranked } = computeRankings(db, WINDOW).rankings;
    expect(ranked.map(({ ref }) => ref.toHex())).toEqual(expected);
    expect(new Set(ranked.map(({ score }) => score)).size).toBe(1);
  });

  test("are channels in the order of their ids", () => {
    const urls = ["c", "a", "b"].map((name) => `https://${name}.example`);
    using db = indexOf(urls.map((url, n) => inChannel(url, { fid: 1, at: NOW, hash: hashFrom(`${n}`) })));
    const { channels } = computeRankings(db, WINDOW).rankings;
    expect(channels.map(({ ref }) => Buffer.from(ref).toString())).toEqual(urls.toSorted());
  });
});

test("the window begins with the second a day before the snapshot", () => {
  const at = NOW - 24 * HOUR_SECS;
  const last = { fid: 1, at: at - 1, hash: Buffer.alloc(20, 255) };
  // Rows are in the order of the time and then of the hash.
  const first = { fid: 1, at, hash: Buffer.alloc(20) };
  using db = indexOf([last, first]);
  const { casts } = computeRankings(db, WINDOW).rankings;
  expect(casts.map(({ ref }) => ref.toHex())).toEqual([first.hash.toHex()]);
});

test("casts of all pages of the window are ranked", () => {
  const casts = Array.from({ length: 5001 }, (_, n) => ({
    fid: 1 + (n % 7),
    at: NOW - 10,
    hash: hashFrom(`${n}`),
  })).map((cast) => inChannel("https://a.example", cast));
  using db = indexOf(casts, 0);
  const newest = inChannel("https://b.example", { fid: 9, at: NOW, hash: hashFrom("newest") });
  insertCast(db, newest);
  const { channels } = computeRankings(db, WINDOW).rankings;
  expect(channels.map(({ ref, score }) => [Buffer.from(ref).toString(), score])).toEqual([
    ["https://a.example", 21],
    ["https://b.example", 3],
  ]);
});

test("a refresh computes each interval once, and nothing while an index is built", async () => {
  using db = indexOf([{ fid: 1, at: NOW, hash: hashFrom("one") }]);
  const stored: RankingSnapshot[] = [];
  const clock = new ManualClock(NOW);
  const refresh = () =>
    refreshRankings({
      ...{ db, clock, windowHours: 24 },
      async store(snapshot) {
        stored.push(snapshot);
        storeRankings(db, snapshot);
      },
    });
  await refresh();
  await refresh();
  expect(stored).toHaveLength(1);
  clock.advanceSecs(-HOUR_SECS);
  await refresh();
  expect(stored).toHaveLength(2);
  using built = openIndexInMemory();
  openBulkBuild(built).append([], () => undefined);
  await refreshRankings({
    ...{ db: built, clock, windowHours: 24 },
    store: async (one) => void stored.push(one),
  });
  expect(stored).toHaveLength(2);
});

test("the best of more casts than are ranked are found wherever they are in the window", () => {
  const castsAt = (at: number, count: number) =>
    Array.from({ length: count }, (_, n) => ({ fid: 1, at, hash: hashFrom(`${at} ${n}`) }));
  const [best, newest] = [castsAt(NOW - 5, 1), castsAt(NOW + 2, 1)].flat();
  if (!best || !newest) throw new Error("two casts");
  using db = indexOf([...castsAt(NOW - 20, 999), ...castsAt(NOW - 10, 1), best], 2);
  const like = (fid: number, target: ModelCast) =>
    setReaction(db, { fid, type: ReactionType.REACTION_TYPE_LIKE, target, at: NOW, on: true });
  db.transaction(() => {
    const [worse] = castsAt(NOW - 8, 1);
    if (worse) {
      insertCast(db, worse);
      like(100, worse);
    }
    like(103, best);
  });
  const ranked = () => computeRankings(db, WINDOW).rankings.casts.map(({ ref }) => ref.toHex());
  expect([ranked()[0], ranked().length]).toEqual([best.hash.toHex(), 1000]);
  // What is ranked alike is in the order of its time, however many there are.
  using alike = indexOf([...castsAt(NOW + 1, 1000), newest]);
  expect(computeRankings(alike, WINDOW).rankings.casts[0]?.ref.toHex()).toBe(newest.hash.toHex());
});

test("a refresh that runs continues at the start of each minute, also after a fault, until it is stopped", async () => {
  using db = indexOf([{ fid: 1, at: NOW, hash: hashFrom("one") }]);
  const clock = new ManualClock(0);
  clock.setMs(snapshotTimeAt(NOW * 1000) + 17_000);
  const timers = new ManualTimers();
  const stored: number[] = [];
  const faults: string[] = [];
  const refresh = await startRankingRefresh({
    ...{ db, clock, windowHours: 24, after: timers.after },
    async store(snapshot) {
      stored.push(snapshot.snapshot);
      if (stored.length === 2) throw new Error("no disk");
      storeRankings(db, snapshot);
    },
    onFault: (cause) => faults.push(`${cause}`),
  });
  expect(timers.pendingMs).toBe(SNAPSHOT_INTERVAL_MS - 17_000);
  for (let n = 0; n < 2; n++) {
    const next = timers.next();
    timers.fire(clock);
    await next;
    expect(timers.pendingMs).toBe(SNAPSHOT_INTERVAL_MS);
  }
  const [first = 0] = stored;
  expect(stored).toEqual([0, 1, 2].map((n) => first + n * SNAPSHOT_INTERVAL_MS));
  expect(faults).toEqual(["Error: no disk"]);
  // A stop amid a refresh lets it end, and no other follows.
  timers.fire(clock);
  await refresh.stop();
  expect([stored.length, timers.pendingMs]).toEqual([4, undefined]);
});

test("a refresh that waits for the next minute is stopped", async () => {
  using db = openIndexInMemory();
  const timers = new ManualTimers();
  const refresh = await startRankingRefresh({
    ...{ db, clock: new ManualClock(NOW), windowHours: 24, after: timers.after },
    store: async () => {},
    onFault: () => expect.unreachable(),
  });
  const stopped = refresh.stop();
  expect(timers.pendingMs).toBeUndefined();
  await stopped;
});
