import { expect, test } from "bun:test";
import fc from "fast-check";
import { type IndexDatabase, openIndexInMemory } from "../../src/db/index/database.ts";
import {
  castMetrics,
  METRIC_INTERVALS,
  type MetricInterval,
} from "../../src/read/queries/search/cast-metrics.ts";
import { hashFrom, insertCast } from "../support/read-model.ts";

/** A Tuesday, 10:30 UTC. */
const NOW = Date.UTC(2026, 10, 24, 10, 30) / 1000;
const INTERVALS = Object.keys(METRIC_INTERVALS) as MetricInterval[];
const NO_FILTER = { authorFid: undefined, channelId: undefined };

interface Planned {
  readonly text: string;
  readonly fid: number;
  readonly at: number;
  readonly channel: "art" | "home" | undefined;
}

function put(db: IndexDatabase, casts: readonly Planned[]): void {
  db.transaction(() => {
    for (const [n, { text, fid, at, channel }] of casts.entries())
      insertCast(db, {
        ...{ fid, at, hash: hashFrom(`cast ${n}`) },
        body: {
          text,
          ...(channel && {
            parent: { $case: "parentUrl" as const, value: `https://warpcast.com/~/channel/${channel}` },
          }),
        },
      });
  });
}

/** The specification: the parts that end with the one of now, and the casts in each. */
function expected(casts: readonly Planned[], interval: MetricInterval) {
  const { lengthSecs, partSecs } = METRIC_INTERVALS[interval];
  const parts: { startsAt: number; casts: number }[] = [];
  for (let startsAt = NOW - (NOW % partSecs); startsAt > NOW - lengthSecs - partSecs; startsAt -= partSecs)
    parts.unshift({
      startsAt,
      casts: casts.filter(({ at }) => at >= startsAt && at < startsAt + partSecs).length,
    });
  return parts.slice(-Math.ceil(lengthSecs / partSecs));
}

test("counts what the text and the filters find in each part of an interval, with those without casts", () => {
  const ages = fc.oneof(
    fc.integer({ min: -600, max: 4000 }),
    fc.integer({ min: 0, max: 200 * 86_400 }),
    // The borders of parts.
    fc.nat(30).chain((day) => fc.constantFrom(0, 1).map((by) => (NOW % 86_400) + day * 86_400 + by)),
  );
  const cast = fc.record({
    text: fc.constantFrom("gm all", "gm", "good gm", "bread", "all gm"),
    fid: fc.constantFrom(1, 2),
    at: ages.map((age) => NOW - age),
    channel: fc.constantFrom("art", "home", undefined),
  });
  fc.assert(
    fc.property(fc.array(cast, { maxLength: 40 }), fc.constantFrom(...INTERVALS), (casts, interval) => {
      using db = openIndexInMemory();
      put(db, casts);
      const metrics = (text: string, filter: { authorFid?: number; channelId?: string } = {}) => {
        const found = castMetrics(db, { text, interval, ...NO_FILTER, ...filter, nowSecs: NOW });
        expect([found.isTruncated, found.partSecs]).toEqual([false, METRIC_INTERVALS[interval].partSecs]);
        return found.parts;
      };
      const counted = (isCounted: (cast: Planned) => boolean) => expected(casts.filter(isCounted), interval);
      const hasGm = ({ text }: Planned) => text.includes("gm");
      expect(metrics("gm")).toEqual(counted(hasGm));
      expect(metrics("all GM")).toEqual(counted(({ text }) => text === "gm all" || text === "all gm"));
      expect(metrics('"gm all"')).toEqual(counted(({ text }) => text === "gm all"));
      expect(metrics("gm", { authorFid: 2 })).toEqual(counted((one) => hasGm(one) && one.fid === 2));
      expect(metrics("gm", { channelId: "art" })).toEqual(
        counted((one) => hasGm(one) && one.channel === "art"),
      );
      expect(metrics("!")).toEqual(counted(() => false));
    }),
    { numRuns: 25 },
  );
});

test("of more casts than it counts, it counts the newest, and leaves out the part in which it stopped and those before", () => {
  using db = openIndexInMemory();
  const casts = Array.from(
    { length: 50 },
    (_, n): Planned => ({
      ...{ text: "gm", fid: 1, channel: undefined },
      at: NOW - 1800 * n,
    }),
  );
  put(db, casts);
  const limited = (maxCounted: number) =>
    castMetrics(db, { text: "gm", interval: "1d", ...NO_FILTER, nowSecs: NOW, maxCounted });
  const whole = expected(casts, "1d");
  expect(limited(50)).toMatchObject({ parts: whole, isTruncated: false });
  // Two casts an hour: nine are the last four hours, and one of the hour before.
  expect(limited(9)).toMatchObject({ parts: whole.slice(-4), isTruncated: true });
  expect(limited(0)).toMatchObject({ parts: [], isTruncated: true });
});
