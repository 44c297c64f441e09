import { effect } from "@preact/signals";
import { isVisible } from "./visibility.ts";

/** Asks again and again, while the tab is shown. */
export interface Polling {
  /** Asks now. */
  now(): void;
  stop(): void;
}

/**
 * Calls `run` at once, then `everyMs` after it has ended, and after each failure in a row twice as late, up to `maxMs`. Never while the
 * tab is hidden.
 *
 * @param onWait gets the time of the next call, in ms of `Date.now()`
 */
export function pollWhileVisible(
  run: () => Promise<void>,
  { everyMs, maxMs, onWait }: { everyMs: number; maxMs: number; onWait?: (nextAtMs: number) => void },
): Polling {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let isRunning = false;
  let isStopped = false;

  function call(): void {
    clearTimeout(timer);
    if (isRunning || isStopped) return;
    isRunning = true;
    run()
      .then(
        () => {
          failures = 0;
        },
        () => {
          failures += 1;
        },
      )
      .finally(() => {
        isRunning = false;
        wait();
      });
  }
  function wait(): void {
    if (isStopped || !isVisible.peek()) return;
    const ms = Math.min(maxMs, everyMs * 2 ** Math.max(0, failures - 1));
    onWait?.(Date.now() + ms);
    timer = setTimeout(call, ms);
  }

  const stopWatching = effect(() => {
    if (isVisible.value) call();
    else clearTimeout(timer);
  });
  return {
    now: call,
    stop() {
      isStopped = true;
      clearTimeout(timer);
      stopWatching();
    },
  };
}
