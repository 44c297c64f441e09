import { msToBeat } from "./clock.ts";

/** How late a thread's event loop ran its timers in the last minute. */
export interface LoopDelays {
  readonly p99Ms: number;
  readonly maxMs: number;
}

export type LoopMonitor = ReturnType<typeof startLoopMonitor>;

const INTERVAL_MS = 250;
const SAMPLES = 60_000 / INTERVAL_MS;
/** How often an almost idle thread is sampled: each sample wakes it. */
const QUIET_INTERVAL_MS = 5_000;
/** A thread is quiet if it works for at most this fraction of its time. */
const QUIET_SHARE = 0.02;

/**
 * Measures this thread's event loop with a timer, which is late if the loop is busy.
 *
 * @param options.workedUs returns the CPU time of this thread, microseconds.
 */
export function startLoopMonitor({ workedUs = threadCpuUs } = {}) {
  const late = new Float64Array(SAMPLES);
  let taken = 0;
  let lastMs = performance.now();
  let lastUs = workedUs();
  let dueMs: number;
  let timer: ReturnType<typeof setTimeout>;
  const wait = (intervalMs: number) => {
    const leftMs = msToBeat(intervalMs);
    dueMs = performance.now() + leftMs;
    timer = setTimeout(look, leftMs);
    timer.unref();
  };
  const look = () => {
    const [nowMs, nowUs] = [performance.now(), workedUs()];
    // A longer interval counts as many short ones, so that the samples still cover a minute.
    const intervals = Math.max(1, Math.round((dueMs - lastMs) / INTERVAL_MS));
    for (let n = 0; n < intervals; n++) late[taken++ % SAMPLES] = Math.max(0, nowMs - dueMs);
    const isQuiet = nowUs - lastUs < (nowMs - lastMs) * 1000 * QUIET_SHARE;
    [lastMs, lastUs] = [nowMs, nowUs];
    wait(isQuiet ? QUIET_INTERVAL_MS : INTERVAL_MS);
  };
  wait(INTERVAL_MS);
  return {
    delays(): LoopDelays {
      const sorted = late.slice(0, Math.min(taken, SAMPLES)).sort();
      return { p99Ms: sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0, maxMs: sorted.at(-1) ?? 0 };
    },
    stop: (): void => clearTimeout(timer),
  };
}

let own: LoopMonitor | undefined;

/** Returns the delays of this thread, measured from the first call on. */
export function ownLoopDelays(): LoopDelays {
  own ??= startLoopMonitor();
  return own.delays();
}

function threadCpuUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
