import { expect, test } from "bun:test";
import { NodeSignals } from "../../src/cluster/node-signals.ts";
import { createOffsetClock } from "../../src/cluster/offset-clock.ts";
import { ManualClock } from "../support/clock.ts";

const START_MS = 1_000_000_000;
const HOUR_MS = 3_600_000;

function setUp() {
  const clock = new ManualClock(START_MS / 1000);
  let monotonicMs = 5_000.25;
  const signals = new NodeSignals();
  const state = createOffsetClock({ clock, signals, monotonicMs: () => monotonicMs });
  /** Advances both clocks. */
  const advanceMs = (ms: number) => {
    monotonicMs += ms;
    clock.setMs(clock.nowMs() + ms);
  };
  return { clock, signals, state, advanceMs };
}

test("adds the measured offset, and follows the machine's clock while it runs steadily", () => {
  const { signals, state, advanceMs } = setUp();
  expect(state.nowMs()).toBe(START_MS);
  signals.clockOffsetMs = -HOUR_MS;
  expect(state.nowMs()).toBe(START_MS - HOUR_MS);
  advanceMs(90_000);
  expect(state.nowMs()).toBe(START_MS - HOUR_MS + 90_000);
  expect(state.sweepableSecs()).toBe((START_MS - HOUR_MS + 30_000) / 1000);
});

test.each([HOUR_MS, -HOUR_MS])("is not moved by a jump of the machine's clock of %d ms", (jumpMs) => {
  const { clock, signals, state, advanceMs } = setUp();
  signals.clockOffsetMs = 250;
  expect(state.nowMs()).toBe(START_MS + 250);
  clock.setMs(clock.nowMs() + jumpMs);
  advanceMs(1_000);
  expect(state.nowMs()).toBe(START_MS + 1_250);
  // The next measurement sees the machine's clock after its jump.
  signals.clockOffsetMs = 250 - jumpMs;
  expect(state.nowMs()).toBe(START_MS + 1_250);
});

test("a measurement with the former result is one too: the monotonic clock stood still while the machine slept", () => {
  const { clock, signals, state } = setUp();
  signals.clockOffsetMs = 7;
  expect(state.nowMs()).toBe(START_MS + 7);
  clock.setMs(clock.nowMs() + HOUR_MS);
  signals.clockOffsetMs = 7;
  expect(state.nowMs()).toBe(START_MS + HOUR_MS + 7);
});
