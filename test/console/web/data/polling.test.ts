import { expect, test } from "bun:test";
import { signal } from "@preact/signals";
import { type PollingOptions, startPolling } from "../../../../src/console/web/data/polling.ts";
import { ManualTime } from "../../../support/manual-time.ts";

/** When and how often a part of the page asks again. */

const EVERY_MS = 1000;
const MAX_MS = 4000;

/** A polling whose calls a test settles. */
function startCounted(options: Partial<PollingOptions> = {}) {
  const time = new ManualTime(0);
  const isVisible = signal(true);
  const startedAtMs: number[] = [];
  let underWay: PromiseWithResolvers<void> | undefined;
  const run = async () => {
    expect(underWay).toBeUndefined();
    startedAtMs.push(time.nowMs());
    underWay = Promise.withResolvers();
    await underWay.promise;
  };
  const polling = startPolling(run, { everyMs: EVERY_MS, maxMs: MAX_MS, isVisible, time, ...options });
  const settle = async (failure?: Error) => {
    const ended = underWay;
    underWay = undefined;
    if (failure) ended?.reject(failure);
    else ended?.resolve();
    // Everything that follows from it is in microtasks.
    await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    time,
    isVisible,
    startedAtMs,
    polling,
    answer: () => settle(),
    fail: () => settle(new Error("no")),
  };
}

test("a call that takes longer than the interval is the only one, and the next one counts from its response", async () => {
  const { time, startedAtMs, polling, answer } = startCounted();
  time.advanceMs(30 * EVERY_MS);
  polling.now();
  expect(startedAtMs).toEqual([0]);
  await answer();
  time.advanceMs(EVERY_MS - 1);
  expect(startedAtMs).toEqual([0]);
  time.advanceMs(1);
  expect(startedAtMs).toEqual([0, 31_000]);
});

test("after each consecutive failure the next call waits twice as long, up to a limit, and no longer after a response", async () => {
  const { time, startedAtMs, answer, fail } = startCounted();
  for (let failures = 0; failures < 5; failures++) {
    await fail();
    time.advanceMs(MAX_MS);
  }
  await answer();
  time.advanceMs(EVERY_MS);
  const gaps = startedAtMs.slice(1).map((ms, at) => ms - (startedAtMs[at] ?? 0));
  // Each call of the loop begins within one advance of the limit.
  expect(gaps[0]).toBe(EVERY_MS);
  expect(startedAtMs.at(-1)).toBe(time.nowMs());
  expect(startedAtMs).toHaveLength(7);
});

test("a hidden tab asks for nothing; what was due by then is asked for when it is shown", async () => {
  const { time, isVisible, startedAtMs, answer } = startCounted();
  await answer();
  isVisible.value = false;
  time.advanceMs(10 * EVERY_MS);
  expect(startedAtMs).toEqual([0]);
  isVisible.value = true;
  expect(startedAtMs).toEqual([0, 10_000]);
  isVisible.value = false;
  await answer();
  isVisible.value = true;
  time.advanceMs(EVERY_MS - 1);
  expect(startedAtMs).toHaveLength(2);
  time.advanceMs(1);
  expect(startedAtMs).toHaveLength(3);
});

test("a delayed poller begins after the interval; a stopped one never again", async () => {
  const { time, startedAtMs, polling, answer } = startCounted({ waitsFirst: true });
  expect(startedAtMs).toEqual([]);
  time.advanceMs(EVERY_MS);
  expect(startedAtMs).toEqual([1000]);
  polling.stop();
  await answer();
  time.advanceMs(10 * EVERY_MS);
  polling.now();
  expect(startedAtMs).toEqual([1000]);
});

test("what no call has renewed for two shown intervals is late until one succeeds, however many are under way or fail", async () => {
  const late: boolean[] = [];
  const everyMs = 5_000;
  const options = { everyMs, maxMs: 10_000, onLate: (isLate: boolean) => late.push(isLate) };
  const { time, isVisible, answer, fail, polling } = startCounted(options);
  await answer();
  expect(late).toEqual([false]);
  time.advanceMs(2 * everyMs - 1);
  expect(late).toEqual([false]);
  time.advanceMs(1);
  expect(late).toEqual([false, true]);
  await fail();
  time.advanceMs(everyMs);
  expect(late).toEqual([false, true]);
  await answer();
  expect(late).toEqual([false, true, false]);
  // While the tab is hidden nothing is asked, and nothing is late.
  isVisible.value = false;
  time.advanceMs(10 * everyMs);
  isVisible.value = true;
  expect(late).toEqual([false, true, false]);
  time.advanceMs(2 * everyMs);
  expect(late).toEqual([false, true, false, true]);
  polling.stop();
  await answer();
  expect(late).toEqual([false, true, false, true]);
});
