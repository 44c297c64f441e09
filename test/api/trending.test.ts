import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  newestSnapshot,
  type RankedRef,
  SNAPSHOT_INTERVAL_MS,
  snapshotTimeAt,
  storeRankings,
} from "../../src/db/index/counts/rankings.ts";
import { writeScores } from "../../src/db/index/counts/scores.ts";
import { type IndexDatabase, openIndexInMemory } from "../../src/db/index/database.ts";
import { computeRankings, refreshRankings, startRankingRefresh } from "../../src/ingest/ranking.ts";
import { ReactionType } from "../../src/protocol/wire/generated/message.ts";
import { hashesOfCasts, hex } from "../../src/read/hydrate/casts.ts";
import { rankedCasts, rankedChannels, rankingCursors } from "../../src/read/queries/feeds/ranking.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { ManualClock } from "../support/clock.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP, signedCast } from "../support/messages.ts";
import { accountRecords, accountSigner } from "../support/node.ts";
import { readAllPages } from "../support/read-all-pages.ts";
import { deleteCast, hashFrom, insertCast, type ModelCast, setReaction } from "../support/read-model.ts";
import { hashOf, reactionMessage } from "../support/social.ts";

const NOW = 1_700_000_000;
const HOUR = 3600;
const { REACTION_TYPE_LIKE: LIKE, REACTION_TYPE_RECAST: RECAST } = ReactionType;

const FIDS = 6;
const fid = fc.integer({ min: 1, max: FIDS });

interface PlannedCast {
  fid: number;
  ageSecs: number;
  channel: string | undefined;
  replyTo: number | undefined;
}

const plan = fc.record({
  casts: fc.array(
    fc.record<PlannedCast>({
      fid,
      ageSecs: fc.integer({ min: -600, max: 26 * HOUR }),
      channel: fc.constantFrom(
        undefined,
        "https://warpcast.com/~/channel/art",
        "https://farcaster.xyz/~/channel/art",
        "chain://eip155:1/erc721:0xabc",
      ),
      replyTo: fc.option(fc.nat(), { nil: undefined }),
    }),
    { maxLength: 30 },
  ),
  reactions: fc.array(fc.tuple(fid, fc.nat(), fc.constantFrom(LIKE, RECAST)), { maxLength: 80 }),
  removed: fc.array(fc.nat(), { maxLength: 5 }),
});

/** The formulas of the specification, applied to all data. */
function expectedRankings(
  live: readonly ModelCast[],
  reactions: readonly { fid: number; type: ReactionType; target: ModelCast }[],
  /** What an act of an actor counts. */
  shareOf: (fid: number) => number = () => 1,
) {
  const inWindow = live.filter(({ at }) => at >= NOW - 24 * HOUR);
  const parentOf = (cast: ModelCast) =>
    cast.body?.parent?.$case === "parentCastId" ? cast.body.parent.value?.hash : undefined;
  const repliesTo = (target: ModelCast) =>
    live.filter((cast) => {
      const parent = parentOf(cast);
      return parent !== undefined && Buffer.compare(parent as Uint8Array, target.hash) === 0;
    });
  const reactorsOf = (target: ModelCast, type: ReactionType) =>
    reactions.filter((one) => one.target === target && one.type === type).map((one) => one.fid);
  const weigh = (likes: number, recasts: number, replies: number) => likes + 2 * recasts + 3 * replies;
  const casts = inWindow
    .map((cast) => {
      const others = (fids: number[]) =>
        [...new Set(fids.filter((one) => one !== cast.fid))].reduce((sum, one) => sum + shareOf(one), 0);
      const engagement = weigh(
        others(reactorsOf(cast, LIKE)),
        others(reactorsOf(cast, RECAST)),
        others(repliesTo(cast).map((reply) => reply.fid)),
      );
      return { cast, score: engagement / (Math.max(0, NOW - cast.at) / HOUR + 2) ** 1.5 };
    })
    .filter(({ score }) => score > 0);
  const channels = new Map<string, { authors: Set<number>; engagement: number }>();
  for (const cast of inWindow) {
    if (cast.body?.parent?.$case !== "parentUrl") continue;
    const url = cast.body.parent.value ?? "";
    const id = url.endsWith("/art") ? "art" : url;
    const channel = channels.get(id) ?? { authors: new Set(), engagement: 0 };
    channels.set(id, channel);
    channel.authors.add(cast.fid);
    channel.engagement += weigh(
      reactorsOf(cast, LIKE).length,
      reactorsOf(cast, RECAST).length,
      repliesTo(cast).length,
    );
  }
  return {
    casts: new Map(casts.map(({ cast, score }) => [cast.hash.toHex(), score])),
    channels: new Map([...channels].map(([id, c]) => [id, 3 * c.authors.size + c.engagement])),
  };
}

function scores(ranked: readonly RankedRef[], name: (ref: Uint8Array) => string): Map<string, number> {
  return new Map(ranked.map(({ ref, score }) => [name(ref), score]));
}

/** Of four accounts; the others have none. */
const SCORES = new Map([
  [1, 0],
  [2, 0.2],
  [3, 0.5],
  [4, 0.9],
]);

function withScores(db: IndexDatabase): IndexDatabase {
  const runId = writeScores(db, {
    step: "begin",
    run: { kind: "imported", at: 1, method: "csv", params: {}, seeds: [] },
  });
  const rows = [...SCORES].map(([account, score]) => ({
    ...{ fid: account, score: 100 * score, state: 0, rank: 0, viaFid: 0, sources: null, note: null },
  }));
  writeScores(db, { step: "rows", runId, rows });
  writeScores(db, { step: "finish", runId, stats: {} });
  return db;
}

describe("rankings", () => {
  test("follow the formulas: distinct other users, only the window, without removed messages", () => {
    fc.assert(
      fc.property(plan, ({ casts: planned, reactions, removed }) => {
        using db = openIndexInMemory();
        const casts: ModelCast[] = [];
        for (const { fid: author, ageSecs, channel, replyTo } of planned) {
          const target = replyTo === undefined ? undefined : casts[replyTo % Math.max(1, casts.length)];
          const parent = target
            ? ({ $case: "parentCastId", value: { fid: target.fid, hash: target.hash } } as const)
            : channel === undefined
              ? undefined
              : ({ $case: "parentUrl", value: channel } as const);
          const hash = hashFrom(`${casts.length}`);
          const cast: ModelCast = { fid: author, at: NOW - ageSecs, hash, body: parent ? { parent } : {} };
          insertCast(db, cast);
          casts.push(cast);
        }
        const made = new Map<string, { fid: number; type: ReactionType; target: ModelCast }>();
        for (const [by, at, type] of reactions) {
          const target = casts[at % Math.max(1, casts.length)];
          const key = `${by} ${type} ${target?.hash.toHex()}`;
          if (!target || made.has(key)) continue;
          made.set(key, { fid: by, type, target });
          setReaction(db, { fid: by, type, target, at: NOW, on: true });
        }
        const gone = new Set(removed.flatMap((at) => casts[at % Math.max(1, casts.length)] ?? []));
        for (const cast of gone) deleteCast(db, cast);
        const { rankings, snapshot } = computeRankings(db, { snapshot: NOW * 1000, windowHours: 24 });
        const live = casts.filter((cast) => !gone.has(cast));
        const expected = expectedRankings(live, [...made.values()]);
        expect(snapshot).toBe(NOW * 1000);
        expect(scores(rankings.casts, (ref) => ref.toHex())).toEqual(expected.casts);
        expect(scores(rankings.channels, (ref) => Buffer.from(ref).toString())).toEqual(expected.channels);
        for (const ranked of [rankings.casts, rankings.channels])
          expect(ranked.map(({ score }) => score)).toEqual(
            ranked.map(({ score }) => score).toSorted((a, b) => b - a),
          );
        // Where scores decide, an act counts by its actor's, whole from 0.5 on.
        const scored = computeRankings(withScores(db), {
          ...{ snapshot: NOW * 1000, windowHours: 24 },
          scores: { mode: "imported", unknown: 0.1 },
        });
        const byScore = expectedRankings(live, [...made.values()], (one) =>
          Math.min(1, 2 * (SCORES.get(one) ?? 0.1)),
        ).casts;
        const found = scores(scored.rankings.casts, (ref) => ref.toHex());
        expect([...found.keys()].sort()).toEqual([...byScore.keys()].sort());
        for (const [hash, score] of byScore) expect(found.get(hash)).toBeCloseTo(score, 9);
      }),
      { numRuns: 60 },
    );
  });

  test("contain the best 1,000, even if counts of self-replies suggest others", () => {
    using db = openIndexInMemory();
    const casts = Array.from({ length: 1600 }, (_, n) => ({
      fid: 1,
      at: NOW - HOUR,
      hash: hashFrom(`c${n}`),
    }));
    db.transaction(() => {
      casts.forEach((cast, n) => {
        insertCast(db, cast);
        // Every second cast has many self-replies and one like less than its neighbour.
        for (let like = 0; like <= n % 5; like++)
          setReaction(db, { fid: 10 + like, type: LIKE, target: cast, at: NOW, on: true });
        const parent = { $case: "parentCastId", value: { fid: 1, hash: cast.hash } } as const;
        if (n % 2 === 0)
          insertCast(db, { fid: 1, at: NOW - 30 * HOUR, hash: hashFrom(`r${n}`), body: { parent } });
      });
    });
    const { casts: ranked } = computeRankings(db, { snapshot: NOW * 1000, windowHours: 24 }).rankings;
    const likesOf = new Map(casts.map(({ hash }, n) => [hash.toHex(), 1 + (n % 5)]));
    expect(ranked).toHaveLength(1000);
    const counts = ranked.map(({ ref }) => likesOf.get(ref.toHex()) ?? 0);
    expect(counts).toEqual(
      [5, 4, 3].flatMap((likes) => Array<number>(320).fill(likes)).concat(Array(40).fill(2)),
    );
  });

  test("are retained for an hour and the newest without limit; an empty one replaces a non-empty one", () => {
    using db = openIndexInMemory();
    const cast = { fid: 1, at: NOW, hash: hashFrom("one") };
    insertCast(db, cast);
    const store = (snapshot: number, casts: RankedRef[]) =>
      storeRankings(db, { snapshot, rankings: { casts, channels: [] } });
    const entry = { ref: cast.hash, score: 1 };
    const stored = () =>
      db.sqlite
        .query<{ at: number }, []>(
          "SELECT DISTINCT snapshot AS at FROM rankings WHERE kind = 'casts' ORDER BY 1",
        )
        .all()
        .map(({ at }) => at);
    store(0, [entry]);
    store(1_800_000, [entry]);
    store(3_600_001, []);
    expect(stored()).toEqual([1_800_000, 3_600_001]);
    expect(rankedCasts(db, { limit: 10, after: undefined })).toMatchObject({
      rows: [],
      cursor: null,
    });
    store(90_000_000, [entry]);
    expect(stored()).toEqual([90_000_000]);
    // The clock was set back: a ranking from its future is not newer.
    store(50_000_000, [entry]);
    expect(newestSnapshot(db, "casts")).toBe(50_000_000);
  });

  test("all pages belong to one ranking; removed casts are skipped and the page is filled up", () => {
    using db = openIndexInMemory();
    const casts = Array.from({ length: 9 }, (_, n) => ({ fid: 1, at: NOW, hash: hashFrom(`c${n}`) }));
    for (const cast of casts) insertCast(db, cast);
    const ranked = casts.map(({ hash }, n) => ({ ref: hash, score: 9 - n }));
    storeRankings(db, { snapshot: 1, rankings: { casts: ranked, channels: [] } });
    const first = rankedCasts(db, { limit: 3, after: undefined });
    const hashesIn = ({ rows }: typeof first) =>
      hashesOfCasts(
        db,
        rows.map(({ id }) => id),
      );
    expect(hashesIn(first)).toEqual(casts.slice(0, 3).map(({ hash }) => hex(hash)));
    storeRankings(db, { snapshot: 2, rankings: { casts: ranked.toReversed(), channels: [] } });
    for (const at of [3, 5]) deleteCast(db, casts[at] as ModelCast);
    const after = rankingCursors.casts.decode(first.cursor ?? "");
    const second = rankedCasts(db, { limit: 3, after });
    expect(second.rows.map(({ rank }) => rank)).toEqual([5, 7, 8]);
    const last = rankedCasts(db, {
      limit: 3,
      after: rankingCursors.casts.decode(second.cursor ?? ""),
    });
    expect(last).toMatchObject({ rows: [{ rank: 9 }], cursor: null });
    expect(hashesIn(rankedCasts(db, { limit: 1, after: undefined }))).toEqual(
      casts.slice(8).map(({ hash }) => hex(hash)),
    );
  });

  describe("a cursor of another node", () => {
    const named = (n: number) => ({ fid: 1, at: NOW, hash: hashFrom(`c${n}`) });
    const MINUTE = SNAPSHOT_INTERVAL_MS;
    const HOUR_MS = 60 * MINUTE;

    /** A node with rankings: by the time of each, the numbers of its casts, best first. */
    function nodeWith(rankings: Readonly<Record<number, readonly number[]>>) {
      const db = openIndexInMemory();
      for (const n of new Set(Object.values(rankings).flat())) insertCast(db, named(n));
      for (const [snapshot, order] of Object.entries(rankings)) {
        const casts = order.map((n) => ({ ref: named(n).hash, score: 1 }));
        const channels = order.map((n) => ({ ref: Buffer.from(`channel-${n}`), score: 1 }));
        storeRankings(db, { snapshot: Number(snapshot), rankings: { casts, channels } });
      }
      return db;
    }
    const read = (db: ReturnType<typeof nodeWith>, cursor: string | null, limit = 2) => {
      const page = rankedCasts(db, {
        limit,
        after: cursor === null ? undefined : rankingCursors.casts.decode(cursor),
      });
      const hashes = hashesOfCasts(
        db,
        page.rows.map(({ id }) => id),
      );
      const numbers = hashes.map((hash) => [...Array(20).keys()].find((n) => hex(named(n).hash) === hash));
      return { numbers, cursor: page.cursor };
    };

    test("continues after its entry where the ranking of the same time has another order", () => {
      using a = nodeWith({ [HOUR_MS]: [1, 2, 3, 4, 5, 6] });
      using b = nodeWith({ [HOUR_MS]: [9, 8, 1, 2, 3, 4, 5, 6] });
      const first = read(a, null);
      const second = read(b, first.cursor);
      expect([first.numbers, second.numbers, read(a, second.cursor).numbers]).toEqual([
        [1, 2],
        [3, 4],
        [5, 6],
      ]);
    });

    test("continues in the nearest ranking within an hour, and ends where there is none", () => {
      using a = nodeWith({ [4 * HOUR_MS]: [1, 2, 3, 4] });
      const { cursor } = read(a, null);
      using older = nodeWith({ [3 * HOUR_MS + MINUTE]: [2, 5, 6], [3 * HOUR_MS + 2 * MINUTE]: [1, 2, 7, 8] });
      expect(read(older, cursor).numbers).toEqual([7, 8]);
      using newer = nodeWith({ [5 * HOUR_MS]: [3, 1, 2, 9] });
      expect(read(newer, cursor).numbers).toEqual([9]);
      using far = nodeWith({ [5 * HOUR_MS + MINUTE]: [1, 2, 3, 4] });
      expect(read(far, cursor)).toEqual({ numbers: [], cursor: null });
      using empty = openIndexInMemory();
      expect(read(empty, cursor)).toEqual({ numbers: [], cursor: null });
    });

    test("continues after its rank where the ranking lacks its entry", () => {
      using a = nodeWith({ [HOUR_MS]: [1, 2, 3, 4] });
      using b = nodeWith({ [HOUR_MS]: [3, 4, 5, 6] });
      expect(read(b, read(a, null).cursor).numbers).toEqual([5, 6]);
    });

    test("ends a walk over nodes only at the end of a node's ranking", () => {
      const order = fc.shuffledSubarray([...Array(12).keys()], { minLength: 12 });
      fc.assert(
        fc.property(fc.array(order, { minLength: 2, maxLength: 3 }), fc.array(fc.nat()), (orders, picks) => {
          const nodes = orders.map((ranked, n) => nodeWith({ [(n + 1) * MINUTE]: ranked }));
          try {
            const nodeAt = (page: number) =>
              nodes[(picks[page] ?? page) % nodes.length] ?? expect.unreachable();
            let page = read(nodeAt(0), null, 5);
            let at = 0;
            let pages = 0;
            for (let n = 1; n < 2000 && page.cursor !== null; n++) {
              pages = n;
              at = (picks[n] ?? n) % nodes.length;
              page = read(nodeAt(n), page.cursor, 5);
            }
            expect(page.cursor).toBeNull();
            // Or where rankings that differ have led the walk in a circle.
            if (page.numbers.length > 0 && pages < 100) expect(page.numbers.at(-1)).toBe(orders[at]?.at(-1));
          } finally {
            for (const node of nodes) node[Symbol.dispose]();
          }
        }),
        { numRuns: 3 },
      );
    });
  });

  test("a channel is ranked only while it has a live cast", () => {
    using db = openIndexInMemory();
    const url = "chain://eip155:1/erc721:0xabc";
    const parent = { $case: "parentUrl", value: url } as const;
    const cast = { fid: 1, at: NOW, hash: hashFrom("in channel"), body: { parent } };
    insertCast(db, cast);
    storeRankings(db, computeRankings(db, { snapshot: NOW * 1000, windowHours: 1 }));
    const page = () => rankedChannels(db, { limit: 5, after: undefined }).rows;
    expect(page().map(({ id }) => id)).toEqual([url]);
    deleteCast(db, cast);
    expect(page()).toEqual([]);
  });

  test("are those of whole minutes, refreshed once for each, also if the clock was ahead", async () => {
    using db = openIndexInMemory();
    const MINUTE_SECS = SNAPSHOT_INTERVAL_MS / 1000;
    const start = Math.floor(NOW / MINUTE_SECS) * MINUTE_SECS;
    const clock = new ManualClock(start + 7);
    const stored: number[] = [];
    const refresh = {
      db,
      clock,
      windowHours: 24,
      store: async (snapshot: Parameters<typeof storeRankings>[1]) => {
        stored.push(snapshot.snapshot);
        storeRankings(db, snapshot);
      },
    };
    await refreshRankings(refresh);
    clock.advanceSecs(MINUTE_SECS - 8);
    await refreshRankings(refresh);
    expect(stored).toEqual([start * 1000]);
    clock.advanceSecs(1);
    const fresh = await startRankingRefresh({ ...refresh, onFault: () => expect.unreachable() });
    await fresh.stop();
    clock.advanceSecs(-1000);
    await refreshRankings(refresh);
    expect(stored).toEqual([start, start + 60, start + 60 - 1020].map((secs) => secs * 1000));
    expect(newestSnapshot(db, "channels")).toBe((start + 60 - 1020) * 1000);
    expect(snapshotTimeAt((start + 59.999) * 1000)).toBe(start * 1000);
  });
});

describe("the trending feed", () => {
  let api: TestApi;
  const casts = Array.from({ length: 5 }, (_, n) =>
    signedCast(1, `cast ${n}`, accountSigner(1), { timestamp: DEFAULT_TIMESTAMP - n }),
  );
  const names = ["/feed/trending", "/feed/for_you", "/feed/topic", "/feed?feed_type=trending"];

  beforeAll(async () => {
    api = await startTestApi();
    for (const one of [1, 2, 3, 4, 5, 6]) api.node.ingestAll(accountRecords(one));
    for (const message of casts) expect(api.node.ingestMessage(message)).toBe("ok");
    casts.forEach((message, n) => {
      for (let by = 1; by <= n + 1; by++)
        expect(api.node.ingestMessage(reactionMessage(by, LIKE, { fid: 1, hash: hashOf(message) }))).toBe(
          "ok",
        );
    });
  });

  afterAll(() => api[Symbol.asyncDispose]());

  test("is empty before the first ranking, and the same under all its names", async () => {
    for (const name of names)
      expect((await api.get(name)).body).toEqual({ casts: [], next: { cursor: null } });
    storeRankings(
      api.node.db,
      computeRankings(api.node.db, { snapshot: DEFAULT_NOW_SECS * 1000, windowHours: 24 }),
    );
    // The first cast is liked only by its author.
    const expected = casts.slice(1).map(hashOf).toReversed();
    for (const name of names) {
      for (const limit of [1, 3, 100]) {
        const found = await readAllPages<{ hash: string }>(api, name, "casts", limit);
        expect(found.map(({ hash }) => hash)).toEqual(expected);
      }
      const query = name.includes("?") ? "&" : "?";
      for (const [given, param] of [
        ["limit=0", "limit"],
        ["limit=x", "limit"],
        ["cursor=AAAA", "cursor"],
      ] as const) {
        const { status, body } = await api.get(`${name}${query}${given}`);
        expect(status).toBe(400);
        expect(body.message).toContain(param);
      }
    }
  });
});
