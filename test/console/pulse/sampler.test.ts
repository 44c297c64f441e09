import { describe, expect, test } from "bun:test";
import { createSampler, type Reading, scheduleSamples } from "../../../src/console/pulse/sampler.ts";
import { httpFigures, quantileMs } from "../../../src/http/metrics/http-figures.ts";
import { NO_RESPONSES } from "../../../src/http/metrics/http-metrics.ts";
import { type Figure, figureOf, type Series } from "../../../src/runtime/figures/figures.ts";
import { ManualClock } from "../../support/clock.ts";

const BOUNDS = [0.001, 0.01, 0.1];

interface Counts {
  readonly merged?: number;
  readonly cpuMs?: number;
  readonly campaigns?: number;
}

const figure = figureOf<Counts>();
const figures = [
  figure({ read: ({ merged }) => merged, history: { series: "merged_per_second", minute: "mean", rate: 1 } }),
  figure({ read: ({ cpuMs }) => cpuMs, history: { series: "cpu_percent", minute: "mean", rate: 0.1 } }),
  figure({ read: ({ campaigns }) => campaigns, history: { series: "campaigns", minute: "max" } }),
];

const seriesOf = (of: readonly Figure<never>[]): readonly Series[] =>
  of.flatMap(({ series }) => series ?? []);

const readingOf = (of: readonly Figure<never>[], atMs: number, now: unknown): Reading => ({
  atMs,
  counts: new Map(),
  values: new Map(seriesOf(of).map(({ name, read }) => [name, read(now as never)])),
});

/** The figures of a sampler after some readings, 5 seconds apart. */
async function figuresAfter(...readings: readonly Counts[]) {
  let at = 0;
  const sampler = createSampler({
    series: seriesOf(figures),
    read: async () => readingOf(figures, at * 5000, readings[at]),
    clock: new ManualClock(1_790_000_000),
  });
  for (; at < readings.length; at++) await sampler.sample();
  return sampler.latest();
}

describe("a sample", () => {
  test("has rates of counts since the one before", async () => {
    expect(await figuresAfter({ merged: 10, cpuMs: 100 }, { merged: 60, cpuMs: 1100, campaigns: 2 })).toEqual(
      {
        merged_per_second: 10,
        cpu_percent: 20,
        campaigns: 2,
      },
    );
  });

  test("has no rate where there is one reading, or a part has not responded, or began again", async () => {
    expect(await figuresAfter({ merged: 10, campaigns: 1 })).toEqual({ campaigns: 1 });
    expect(await figuresAfter({ merged: 10, cpuMs: 1 }, { merged: 3 })).toEqual({});
    expect(await figuresAfter({}, { merged: 3 })).toEqual({});
  });
});

describe("quantileMs", () => {
  test("counts the durations of a bucket as evenly spread, and knows no more than the last bound", () => {
    expect(quantileMs(BOUNDS, [10, 0, 0, 0], 0.5)).toBeCloseTo(0.5, 6);
    expect(quantileMs(BOUNDS, [50, 50, 0, 0], 0.99)).toBeCloseTo(9.82, 2);
    expect(quantileMs(BOUNDS, [0, 0, 0, 5], 0.5)).toBe(100);
    expect(quantileMs(BOUNDS, [0, 0, 0, 0], 0.5)).toBeUndefined();
  });
});

test("the response times of the pulse are those of the last minute", async () => {
  let at = 0;
  // Slow ones in the first sample, then fast ones.
  const now = () => {
    const buckets = [at > 1 ? (at - 1) * 10 : 0, 0, at > 0 ? 10 : 0, 0];
    const requests = buckets.reduce((sum, count) => sum + count, 0);
    return { requests, clientErrors: 0, serverErrors: 0, notImplemented: 0, boundsSecs: BOUNDS, buckets };
  };
  const sampler = createSampler({
    series: seriesOf(httpFigures),
    read: async () => readingOf(httpFigures, at * 5000, now()),
    clock: new ManualClock(1_790_000_000),
  });
  for (; at < 13; at++) await sampler.sample();
  expect(sampler.overMinute().p99_ms).toBeGreaterThan(10);
  for (; at < 15; at++) await sampler.sample();
  const { p50_ms, p99_ms } = sampler.overMinute();
  expect([p50_ms, p99_ms]).toEqual([expect.closeTo(0.5), expect.closeTo(0.99)]);
});

test("the lane of 5xx has no 501, which says that something is not here", () => {
  const lanes = httpFigures.flatMap(({ lane }) => lane ?? []);
  const seen = { ...NO_RESPONSES, serverErrors: 3, notImplemented: 2 };
  expect(lanes.map(({ name, read }) => [name, read(seen)])).toEqual([["errors", { "5xx": 1 }]]);
});

test("stopping waits for the sample under way, so that nothing is read after the databases are closed", async () => {
  const read = Promise.withResolvers<void>();
  const steps: string[] = [];
  const stop = scheduleSamples(
    { sample: () => read.promise.then(() => void steps.push("sampled")) },
    () => {},
  );
  const stopped = Promise.resolve(stop()).then(() => steps.push("stopped"));
  await Bun.sleep(0);
  read.resolve();
  await stopped;
  expect(steps).toEqual(["sampled", "stopped"]);
});
