/** How late the event loop of a thread ran its timers in the last minute. */
export interface LoopDelays {
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface LoopMonitor {
  delays(): LoopDelays;
  stop(): void;
}

const INTERVAL_MS = 250;
const SAMPLES = 60_000 / INTERVAL_MS;

/** Measures the event loop of this thread by a timer: what keeps it busy makes the timer late. */
export function startLoopMonitor(): LoopMonitor {
  const late = new Float64Array(SAMPLES);
  let taken = 0;
  let lastMs = performance.now();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    late[taken % SAMPLES] = Math.max(0, nowMs - lastMs - INTERVAL_MS);
    taken += 1;
    lastMs = nowMs;
  }, INTERVAL_MS);
  return {
    delays() {
      const sorted = late.slice(0, Math.min(taken, SAMPLES)).sort();
      return { p99Ms: sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0, maxMs: sorted.at(-1) ?? 0 };
    },
    stop: () => clearInterval(timer),
  };
}
