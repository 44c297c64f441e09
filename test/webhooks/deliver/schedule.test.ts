import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  MAX_BACKOFF_MS,
  MAX_RETRY_AFTER_MS,
  maxRetryDelayMs,
  retryDelayMs,
  retrySpanMs,
} from "../../../src/webhooks/deliver/schedule.ts";

const policy = { maxAttempts: 5, initialBackoffMs: 500 };
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test("delays double from the first one, and there is none after the last attempt", () => {
  const waits = [1, 2, 3, 4, 5, 6].map((attempt) => retryDelayMs(policy, attempt, 0, 0.5));
  expect(waits).toEqual([500, 1_000, 2_000, 4_000, undefined, undefined]);
  expect(retryDelayMs({ ...policy, maxAttempts: 1 }, 1, 0, 0.5)).toBeUndefined();
});

test("a delay is within a fifth of the schedule and not below the requested one", () => {
  fc.assert(
    fc.property(
      fc.record({
        maxAttempts: fc.integer({ min: 1, max: 20 }),
        initialBackoffMs: fc.integer({ min: 1, max: 3_600_000 }),
      }),
      fc.integer({ min: 1, max: 25 }),
      fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 10 * MAX_RETRY_AFTER_MS })),
      random,
      (input, attempt, askedMs, draw) => {
        const wait = retryDelayMs(input, attempt, askedMs, draw);
        if (attempt >= input.maxAttempts) return expect(wait).toBeUndefined();
        const planned = Math.min(input.initialBackoffMs * 2 ** (attempt - 1), MAX_BACKOFF_MS);
        const requested = Math.min(askedMs, MAX_RETRY_AFTER_MS);
        expect(wait).toBeGreaterThanOrEqual(Math.max(Math.floor(planned * 0.8), requested));
        expect(wait).toBeLessThanOrEqual(Math.max(Math.ceil(planned * 1.2), requested));
      },
    ),
  );
});

test("the attempts span the delays between them, each no longer than a day", () => {
  expect(retrySpanMs({ maxAttempts: 5, initialBackoffMs: 500 })).toBe(7_500);
  expect(retrySpanMs({ maxAttempts: 1, initialBackoffMs: 500 })).toBe(0);
  expect(retrySpanMs({ maxAttempts: 4, initialBackoffMs: MAX_BACKOFF_MS })).toBe(3 * MAX_BACKOFF_MS);
});

test("jitter spreads delays over the whole fifth on either side", () => {
  expect([0, 0.25, 0.999_999].map((draw) => retryDelayMs(policy, 1, 0, draw))).toEqual([400, 450, 600]);
});

test("the longest delay is that of the last retry with the most jitter, and at least what a receiver may request", () => {
  const hour = { maxAttempts: 4, initialBackoffMs: 3_600_000 };
  const last = retryDelayMs(hour, hour.maxAttempts - 1, 0, 1 - Number.EPSILON) ?? 0;
  expect(maxRetryDelayMs(hour)).toBe(last);
  expect(last).toBeGreaterThan(MAX_RETRY_AFTER_MS);
  expect(maxRetryDelayMs({ ...hour, maxAttempts: 5 })).toBeGreaterThan(last);
  expect(maxRetryDelayMs(policy)).toBe(MAX_RETRY_AFTER_MS);
  expect(maxRetryDelayMs({ ...hour, maxAttempts: 1 })).toBeGreaterThan(0);
});
