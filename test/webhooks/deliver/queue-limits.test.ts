import { expect, test } from "bun:test";
import { callLimitOf, maxQueuedOf, queueLimitsOf } from "../../../src/webhooks/deliver/queue-limits.ts";

const rate = (rate_limit: number, rate_limit_duration_secs: number) => ({
  rate_limit,
  rate_limit_duration_secs,
});

test("a delivery may wait for 15 minutes, and the rate is per window of the settings", () => {
  expect(callLimitOf(rate(7, 60))).toEqual({ calls: 7, windowMs: 60_000, maxWaitMs: 900_000 });
});

test("a webhook queues what its rate allows within the longest wait, at least one window, at most 100,000", () => {
  expect(maxQueuedOf(rate(7, 60))).toBe(105);
  expect(maxQueuedOf(rate(3, 599))).toBe(5);
  expect(maxQueuedOf(rate(40, 3_600))).toBe(40);
  expect(maxQueuedOf(rate(1_000, 1))).toBe(100_000);
});

test("the limits follow settings that change", () => {
  const webhooks = rate(7, 60);
  const limits = queueLimitsOf({ webhooks });
  webhooks.rate_limit = 14;
  expect(limits.maxQueued).toBe(210);
});
