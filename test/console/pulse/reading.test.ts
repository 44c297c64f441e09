import { describe, expect, test } from "bun:test";
import { figuresBetween, quantileMs, type Reading } from "../../../src/console/pulse/reading.ts";
import { createSampler } from "../../../src/console/pulse/sampler.ts";
import { ManualClock } from "../../support/clock.ts";

const BOUNDS = [0.001, 0.01, 0.1];

function reading(atMs: number, change: Partial<Reading> = {}, buckets = [0, 0, 0, 0]): Reading {
  const requests = buckets.reduce((sum, count) => sum + count, 0);
  return {
    atMs,
    http: { requests, clientErrors: 0, serverErrors: 0, boundsSecs: BOUNDS, buckets },
    merged: 0,
    deliveryAttempts: undefined,
    pushes: 0,
    cpuMs: 0,
    now: {},
    ...change,
  };
}

describe("figuresBetween", () => {
  test("makes rates of counts", () => {
    const before = reading(0, { merged: 10, cpuMs: 100 });
    const after = reading(5000, { merged: 60, cpuMs: 1100, now: { campaigns: 2 } }, [10, 0, 0, 0]);
    expect(figuresBetween(before, after)).toMatchObject({
      requests_per_second: 2,
      merged_per_second: 10,
      cpu_percent: 20,
      campaigns: 2,
    });
  });

  test("has no rate where a part has not responded, or began again", () => {
    const figures = figuresBetween(reading(0, { merged: 10 }), reading(5000, { merged: 3 }));
    expect(figures.merged_per_second).toBeUndefined();
    expect(figures.deliveries_per_second).toBeUndefined();
    expect(figures.p99_ms).toBeUndefined();
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
  const sampler = createSampler({
    read: async () => reading(at * 5000, {}, [at > 1 ? (at - 1) * 10 : 0, 0, at > 0 ? 10 : 0, 0]),
    clock: new ManualClock(1_790_000_000),
  });
  for (; at < 13; at++) await sampler.sample();
  expect(sampler.responseTimes().p99Ms).toBeGreaterThan(10);
  for (; at < 15; at++) await sampler.sample();
  expect(sampler.responseTimes()).toEqual({ p50Ms: expect.closeTo(0.5), p99Ms: expect.closeTo(0.99) });
});
