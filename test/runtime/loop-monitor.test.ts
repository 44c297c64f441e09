import { expect, test } from "bun:test";
import { startLoopMonitor } from "../../src/runtime/loop-monitor.ts";

test("an event loop that was busy shows in its delays, and an idle one does not", async () => {
  const monitor = startLoopMonitor();
  try {
    expect(monitor.delays()).toEqual({ p99Ms: 0, maxMs: 0 });
    const busyUntil = performance.now() + 600;
    while (performance.now() < busyUntil);
    // The late timer runs before this one.
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(monitor.delays().maxMs).toBeGreaterThan(300);
    expect(monitor.delays().p99Ms).toBeLessThanOrEqual(monitor.delays().maxMs);
  } finally {
    monitor.stop();
  }
});
