import { expect, test } from "bun:test";
import { startLoopMonitor } from "../../src/runtime/loop-monitor.ts";

test("an event loop that was busy shows in its delays, and an idle one does not", async () => {
  const monitor = startLoopMonitor();
  try {
    expect(monitor.delays()).toEqual({ p99Ms: 0, maxMs: 0 });
    const busyUntil = performance.now() + 700;
    while (performance.now() < busyUntil);
    // The late timer runs before this one.
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(monitor.delays().maxMs).toBeGreaterThan(300);
    expect(monitor.delays().p99Ms).toBeLessThanOrEqual(monitor.delays().maxMs);
  } finally {
    monitor.stop();
  }
});

test("a quiet thread is looked at less often than a busy one", async () => {
  let workedUs = 0;
  let looks = 0;
  const busyUs = [0, 100_000, 100_000, 0, 0];
  const { promise, resolve } = Promise.withResolvers<void>();
  const atMs: number[] = [];
  const monitor = startLoopMonitor({
    workedUs() {
      workedUs += busyUs[looks++] ?? 0;
      atMs.push(performance.now());
      if (looks === busyUs.length) resolve();
      return workedUs;
    },
  });
  await promise;
  monitor.stop();
  const gaps = atMs.slice(1).map((ms, at) => ms - (atMs[at] ?? 0));
  // A loaded machine makes a look later, never earlier.
  expect(Math.min(...gaps.slice(0, 3))).toBeLessThan(2_000);
  expect(gaps.at(-1)).toBeGreaterThan(2_000);
});
