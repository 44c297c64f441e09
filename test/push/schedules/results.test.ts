import { expect, test } from "bun:test";
import { bestVariant, isLikelyBetter } from "../../../src/push/schedules/results.ts";

const variant = (variant: number, delivered: number, opened: number) => ({
  variant,
  delivered,
  opened,
  failed: 0,
  notAttempted: 0,
  verified: 0,
  goals: 0,
  turnedOff: 0,
});

test("a variant is likely better from 95 % on, and never below 100 opens of each", () => {
  expect(isLikelyBetter([variant(0, 2_000, 200), variant(1, 2_000, 260)])).toBe(true);
  expect(isLikelyBetter([variant(0, 2_000, 200), variant(1, 2_000, 215)])).toBe(false);
  expect(isLikelyBetter([variant(0, 2_000, 99), variant(1, 2_000, 900)])).toBe(false);
  expect(isLikelyBetter([variant(0, 2_000, 2_000), variant(1, 2_000, 2_000)])).toBe(false);
  expect(isLikelyBetter([])).toBe(false);
});

test.each([
  ["equally many people", variant(0, 2_000, 200), variant(1, 2_000, 232), variant(1, 2_000, 233)],
  ["a third of the people", variant(0, 1_000, 100), variant(1, 3_000, 357), variant(1, 3_000, 358)],
  // The first has the least opens that count.
  ["the fewest opens", variant(0, 1_000, 100), variant(1, 1_000, 123), variant(1, 1_000, 124)],
])(
  "the one-sided test at 95 %% has its critical value between two numbers of opens: %s",
  (_, base, below, above) => {
    expect(isLikelyBetter([base, below])).toBe(false);
    expect(isLikelyBetter([above, base])).toBe(true);
    // The third one does not decide, in whatever place.
    const third = variant(2, 5_000, 100);
    expect(isLikelyBetter([third, base, below])).toBe(false);
    expect(isLikelyBetter([base, third, above])).toBe(true);
  },
);

test("the best variant has the largest part of openers; the first of equal ones, also without any", () => {
  expect(bestVariant([variant(0, 100, 10), variant(1, 50, 9), variant(2, 900, 60)])).toBe(1);
  expect(bestVariant([variant(0, 0, 0), variant(1, 0, 0)])).toBe(0);
  expect(bestVariant([])).toBe(0);
});
