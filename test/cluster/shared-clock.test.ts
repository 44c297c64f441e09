import { expect, test } from "bun:test";
import { NodeSignals } from "../../src/cluster/node-signals.ts";
import { createExpiryClock, createSharedClock } from "../../src/cluster/shared-clock.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { ManualClock } from "../support/clock.ts";

const START_MS = 1_000_000_000;
const HOUR_MS = 3_600_000;

test("the shared clock is that of this machine until the state's time is known, then the state's, by monotonic time", () => {
  const main = new NodeSignals();
  const state = createSharedClock(new NodeSignals(main.shared));
  expect(state.nowMs()).toBeGreaterThanOrEqual(systemClock.nowMs() - HOUR_MS);
  main.setStateTime(START_MS);
  const first = state.nowMs();
  // A thread may be late by its last look at the main thread's clock, never early.
  expect(Math.abs(first - START_MS)).toBeLessThan(HOUR_MS);
  main.tick();
  expect(state.nowMs()).toBeGreaterThanOrEqual(first);
  expect(state.sweepableSecs()).toBeLessThan(START_MS / 1000 + HOUR_MS / 1000);
  // A measurement after the machine has slept.
  main.setStateTime(START_MS + HOUR_MS);
  expect(state.nowMs()).toBeGreaterThanOrEqual(START_MS + HOUR_MS - 1);
});

test("what expires by the clock of state.db does not live longer because the machine's clock is set back", () => {
  const clock = new ManualClock(START_MS / 1000);
  const signals = new NodeSignals();
  const expiry = createExpiryClock(signals, clock);
  expect(expiry.nowMs()).toBe(START_MS);
  signals.setStateTime(START_MS);
  clock.advanceSecs(-3);
  expect(expiry.nowMs()).toBeGreaterThanOrEqual(START_MS - 1);
  // The clock of the state may lag after a start, until this machine's has run steadily: what has expired meanwhile stays so.
  clock.advanceSecs(HOUR_MS / 1000);
  expect(expiry.nowMs()).toBeGreaterThanOrEqual(START_MS + HOUR_MS - 3_000);
});

test("a correction of up to 30 seconds never sets it back, also while the clock of the state lags after a start; a larger one is believed", () => {
  const clock = new ManualClock(START_MS / 1000);
  const time = { monotonicMs: 5000 };
  const signals = new NodeSignals();
  signals.setStateTime(START_MS - HOUR_MS);
  const expiry = createExpiryClock(signals, clock, () => time.monotonicMs);
  const pass = (secs: number, correctionSecs = 0) => {
    time.monotonicMs += secs * 1000;
    clock.advanceSecs(secs + correctionSecs);
    return expiry.nowMs() - START_MS;
  };
  expect(expiry.nowMs()).toBe(START_MS);
  expect(pass(10, -20)).toBe(10_000);
  expect(pass(10, -5)).toBe(20_000);
  expect(pass(10, 10)).toBe(30_000);
  expect(pass(10, 40)).toBe(65_000);
  // A clock that was far ahead, and is right again.
  expect(pass(10, HOUR_MS / 1000)).toBe(HOUR_MS + 75_000);
  expect(pass(10, -HOUR_MS / 1000)).toBe(85_000);
});
