import { effect, type ReadonlySignal, untracked } from "@preact/signals";

/** Asks again and again, while the tab is shown. */
export type Polling = ReturnType<typeof startPolling>;

/** A clock, and calls at a time of it. */
export interface PollingTime {
  nowMs(): number;
  /** Returns what takes the call back. */
  after(ms: number, call: () => void): () => void;
}

export interface PollingOptions {
  readonly everyMs: number;
  /** The longest wait after failures. */
  readonly maxMs: number;
  readonly isVisible: ReadonlySignal<boolean>;
  /** Whether another caller has just asked: then the first call is one wait later. */
  readonly waitsFirst?: boolean;
  /** Gets the time of the next call, in ms of `time`. */
  readonly onWait?: (nextAtMs: number) => void;
  /**
   * Gets true when no call has succeeded for two intervals in which the tab was shown: what the last one brought is out of date. Gets
   * false with the next success.
   */
  readonly onLate?: (isLate: boolean) => void;
  /** The browser's, if omitted. */
  readonly time?: PollingTime;
}

/** A busy node may take as long as a short interval. */
const MIN_LATE_MS = 4_000;

const BROWSER_TIME: PollingTime = {
  nowMs: () => Date.now(),
  after: (ms, call) => {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * Calls `run` at once, then `everyMs` after it has ended, and after each failure in a row twice as late, up to `maxMs`. Two calls are
 * never under way, and none begins while the tab is hidden: one that was due by then begins when it is shown again.
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
    /** Asks now. */
    now: (): void => void call(),
    stop(): void {
      isStopped = true;
      cancel?.();
      cancelLate?.();
      stopWatching();
    },
  };
}
