import { effect, type ReadonlySignal, untracked } from "@preact/signals";

/** Repeats a request while the tab is visible. */
export type Polling = ReturnType<typeof startPolling>;

/** A clock, and timers on it. */
export interface PollingTime {
  nowMs(): number;
  /** Schedules a call. Returns a function that cancels it. */
  after(ms: number, call: () => void): () => void;
}

export interface PollingOptions {
  readonly everyMs: number;
  /** The longest wait after failures. */
  readonly maxMs: number;
  readonly isVisible: ReadonlySignal<boolean>;
  /** Whether another caller has just made the request: then the first call waits one interval. */
  readonly waitsFirst?: boolean;
  /** Called with the time of the next call, in ms of `time`. */
  readonly onWait?: (nextAtMs: number) => void;
  /**
   * Called with true if no call has succeeded for two intervals in which the tab was visible, so that the last result is out of date;
   * with false at the next success.
   */
  readonly onLate?: (isLate: boolean) => void;
  /** Default: the browser's clock. */
  readonly time?: PollingTime;
}

/** A busy node may need longer than a short interval. */
const MIN_LATE_MS = 4_000;

const BROWSER_TIME: PollingTime = {
  nowMs: () => Date.now(),
  after: (ms, call) => {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * Calls `run` at once, then `everyMs` after it has ended, doubling the delay after each consecutive failure, up to `maxMs`. Calls never
 * overlap, and none starts while the tab is hidden: a call that becomes due then starts when the tab is visible again.
 */
export function startPolling(run: () => Promise<void>, options: PollingOptions) {
  const { everyMs, maxMs, isVisible, waitsFirst = false, onWait, onLate, time = BROWSER_TIME } = options;
  let cancel: (() => void) | undefined;
  let cancelLate: (() => void) | undefined;
  let nextAtMs = time.nowMs() + (waitsFirst ? everyMs : 0);
  let failures = 0;
  let isRunning = false;
  let isStopped = false;

  function expectSuccess(): void {
    cancelLate?.();
    if (onLate && isVisible.peek())
      cancelLate = time.after(Math.max(2 * everyMs, MIN_LATE_MS), () => onLate(true));
  }

  async function call(): Promise<void> {
    cancel?.();
    if (isRunning || isStopped) return;
    isRunning = true;
    try {
      await run();
      failures = 0;
      if (!isStopped) {
        onLate?.(false);
        expectSuccess();
      }
    } catch {
      failures += 1;
    }
    isRunning = false;
    nextAtMs = time.nowMs() + Math.min(maxMs, everyMs * 2 ** Math.max(0, failures - 1));
    wait();
  }
  function wait(): void {
    cancel?.();
    if (isRunning || isStopped || !isVisible.peek()) return;
    const ms = nextAtMs - time.nowMs();
    if (ms <= 0) {
      void call();
      return;
    }
    onWait?.(nextAtMs);
    cancel = time.after(ms, () => void call());
  }

  const stopWatching = effect(() => {
    if (isVisible.value) {
      untracked(expectSuccess);
      untracked(wait);
    } else {
      cancel?.();
      cancelLate?.();
    }
  });
  return {
    /** Calls it now. */
    now: (): void => void call(),
    stop(): void {
      isStopped = true;
      cancel?.();
      cancelLate?.();
      stopWatching();
    },
  };
}
