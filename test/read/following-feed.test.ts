import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type IndexDatabase, openIndexInMemory } from "../../src/db/index/database.ts";
import { hashesOfCasts } from "../../src/read/hydrate/casts.ts";
import {
  type FollowingFeedBounds,
  followedRoots,
  following,
  followingFeed,
} from "../../src/read/queries/feeds/following-feed.ts";
import { deleteCast, hashFrom, insertCast, type ModelCast, setFollow } from "../support/read-model.ts";

const VIEWER = 1000;
const START = 1_700_000_000;
const AUTHORS = 8;

/** Bounds that select each strategy. */
const strategies: Record<string, FollowingFeedBounds | undefined> = {
  "merge at once": { alwaysMergedUpTo: 100, scannedPerFollow: 1, maxScanned: 1, maxMerged: 100 },
  "scan, then merge": { alwaysMergedUpTo: 0, scannedPerFollow: 1, maxScanned: 100, maxMerged: 100 },
  "scan alone": { alwaysMergedUpTo: 0, scannedPerFollow: 1, maxScanned: 3, maxMerged: 0 },
  "default bounds": undefined,
};

/** Many hashes share their first 16 bits, the only bits of a hash in a cast's id. */
const hash = fc
  .tuple(fc.integer({ min: 0, max: 3 }), fc.uint8Array({ minLength: 17, maxLength: 17 }))
  .map(([head, tail]) => Buffer.concat([Buffer.from([head >> 1, 0, head & 1]), Buffer.from(tail)]));

const cast = fc.record({
  fid: fc.integer({ min: 1, max: AUTHORS }),
  at: fc.integer({ min: START, max: START + 12 }),
  hash,
});

type Change =
  | { kind: "add"; cast: ModelCast }
  | { kind: "remove"; at: number }
  | { kind: "follow"; fid: number; on: boolean };

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 4, arbitrary: cast.map((added): Change => ({ kind: "add", cast: added })) },
  { weight: 2, arbitrary: fc.nat().map((at): Change => ({ kind: "remove", at })) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("follow" as const),
      fid: fc.integer({ min: 1, max: AUTHORS }),
      on: fc.boolean(),
    }),
  },
);

/** A network, and its following feed computed from all casts. */
class Model implements Disposable {
  readonly db: IndexDatabase = openIndexInMemory();
  readonly casts = new Map<string, ModelCast>();
  readonly follows = new Set<number>();

  apply(change: Change): void {
    if (change.kind === "add") {
      const key = change.cast.hash.toHex();
      if (this.casts.has(key)) return;
      this.casts.set(key, change.cast);
      insertCast(this.db, change.cast);
    } else if (change.kind === "remove") {
      const gone = [...this.casts.values()][change.at % Math.max(1, this.casts.size)];
      if (!gone) return;
      this.casts.delete(gone.hash.toHex());
      deleteCast(this.db, gone);
    } else if (this.follows.has(change.fid) !== change.on) {
      if (change.on) this.follows.add(change.fid);
      else this.follows.delete(change.fid);
      setFollow(this.db, VIEWER, change.fid, change.on);
    }
  }

  feed(): string[] {
    return [...this.casts.values()]
      .filter(({ fid }) => this.follows.has(fid))
      .sort((a, b) => b.at - a.at || Buffer.compare(b.hash, a.hash))
      .map(({ hash }) => `0x${hash.toHex()}`);
  }

  [Symbol.dispose](): void {
    this.db[Symbol.dispose]();
  }
}

function walkPages(
  model: Model,
  limit: number,
  bounds: FollowingFeedBounds | undefined,
  between: () => void = () => undefined,
): string[] {
  const seen: string[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < 1000; page++) {
    const after: readonly [number, `0x${string}`] | undefined =
      cursor === null ? undefined : following.cursor.decode(cursor);
    const { rows, cursor: next } = followingFeed(model.db, { fid: VIEWER, limit, after }, bounds);
    expect(rows.length).toBeLessThanOrEqual(limit);
    seen.push(
      ...hashesOfCasts(
        model.db,
        rows.map(({ id }) => id),
      ),
    );
    if (next === null) return seen;
    expect(next).not.toBe(cursor);
    cursor = next;
    between();
  }
  throw new Error("the pages do not end");
}

describe.each(Object.entries(strategies))("followingFeed, %s", (_name, bounds) => {
  test("returns every live cast of all followed users, newest first, ties by hash, at any page size", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
        using model = new Model();
        for (const one of changes) model.apply(one);
        const whole = model.feed();
        for (const limit of [1, 3, 100]) expect(walkPages(model, limit, bounds)).toEqual(whole);
      }),
      { numRuns: 40 },
    );
  });

  test("returns casts that stay live while paging exactly once and in order, despite writes between pages", () => {
    const setup = fc.array(change, { minLength: 20, maxLength: 60 });
    fc.assert(
      fc.property(
        setup,
        fc.array(change, { maxLength: 20 }),
        fc.constantFrom(1, 3),
        (before, during, limit) => {
          using model = new Model();
          for (let fid = 1; fid <= AUTHORS; fid += 2) model.apply({ kind: "follow", fid, on: true });
          for (const one of before) model.apply(one);
          let stays = new Set(model.feed());
          const pending = [...during];
          const seen = walkPages(model, limit, bounds, () => {
            const next = pending.shift();
            if (next) model.apply(next);
            stays = stays.intersection(new Set(model.feed()));
          });
          expect(new Set(seen).size).toBe(seen.length);
          const kept = seen.filter((one) => stays.has(one));
          expect(kept).toEqual(model.feed().filter((one) => stays.has(one)));
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe("followedRoots", () => {
  test("returns the same with a scan of the newest casts as with a merge of each author's, at any position", () => {
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 60 }),
        fc.integer({ min: 1, max: 20 }),
        fc.constantFrom(1, 3, 20),
        (changes, maxScanned, limit) => {
          using model = new Model();
          for (const one of changes) model.apply(one);
          const scans = { alwaysMergedUpTo: 0, scannedPerFollow: 100, maxScanned, maxMerged: 100 };
          const page = (bounds: FollowingFeedBounds | undefined, cursor: string | null) => {
            const after = cursor === null ? undefined : following.cursor.decode(cursor);
            return followedRoots(model.db, { fid: VIEWER, limit, after, withRecasts: true }, bounds);
          };
          for (let cursor: string | null = null, pages = 0; pages < 100; pages++) {
            const merged = page(undefined, cursor);
            const scanned = page(scans, cursor);
            const ids = ({ rows }: typeof merged) => rows.map(({ id }) => id);
            expect([ids(scanned), scanned.cursor]).toEqual([ids(merged), merged.cursor]);
            cursor = merged.cursor;
            if (cursor === null) return;
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  test("scans for an fid with many follows", () => {
    using model = new Model();
    for (let n = 0; n < 400; n++)
      model.apply({ kind: "add", cast: { fid: 1 + (n % 300), at: START + n, hash: hashFrom(`${n}`) } });
    for (let fid = 1; fid <= 300; fid++) model.apply({ kind: "follow", fid, on: true });
    const names: string[] = [];
    model.db.onStatement = (name) => names.push(name);
    followedRoots(model.db, { fid: VIEWER, limit: 25, after: undefined, withRecasts: true });
    expect(names).toContain("skeleton.following-feed.scan-roots");
    expect(names).not.toContain("skeleton.followed-roots.roots");
  });
});

describe("followingFeed statements", () => {
  test("runs only the scan when the scan fills the page", () => {
    using model = new Model();
    for (let n = 0; n < 400; n++)
      model.apply({ kind: "add", cast: { fid: 1 + (n % 300), at: START + n, hash: hashFrom(`${n}`) } });
    for (let fid = 1; fid <= 300; fid++) model.apply({ kind: "follow", fid, on: true });
    const names: string[] = [];
    model.db.onStatement = (name) => names.push(name.replace("skeleton.following-feed.", ""));
    followingFeed(model.db, { fid: VIEWER, limit: 25, after: undefined });
    expect(names).toEqual(["following", "scan", "hydrate.hash-of-cast"]);
  });

  test("runs the merge when followed authors are rare, up to the last page of 10,000 follows", () => {
    using model = new Model();
    const { db } = model;
    const rare = Array.from({ length: 12 }, (_, n) => ({
      fid: 20_000 + n * 500,
      at: START - 1000 - n,
      hash: hashFrom(`rare ${n}`),
    }));
    db.transaction(() => {
      for (let fid = 20_000; fid < 30_000; fid++) setFollow(db, VIEWER, fid, true);
      for (let n = 0; n < 5000; n++)
        insertCast(db, { fid: 1 + (n % 50), at: START + n, hash: hashFrom(`${n}`) });
      for (const one of rare) insertCast(db, one);
    });
    const seen: string[] = [];
    const bounds = { alwaysMergedUpTo: 250, scannedPerFollow: 8, maxScanned: 1000, maxMerged: 20_000 };
    seen.push(...walkPages(model, 5, bounds));
    expect(seen).toEqual(rare.map((one) => `0x${one.hash.toHex()}`));
    expect(walkPages(model, 5, { ...bounds, maxMerged: 100 })).toEqual(seen);
    expect(walkPages(model, 5, undefined)).toEqual(seen);
  });
});
