import type { ChangeLimit, ChangesExhausted } from "./token-store.ts";

/** Sliding-window limit of token changes: exact for every window of its length. Times are unix seconds. */

/** Returns the times of the changes within the window, oldest first. A time after now counts as now. */
export function changesInWindow(
  times: readonly number[],
  nowSecs: number,
  { windowSecs }: ChangeLimit,
): number[] {
  return times.map((time) => Math.min(time, nowSecs)).filter((time) => time > nowSecs - windowSecs);
}

/** Returns when the next change is allowed if the limit is reached, else undefined. */
export function limitReached(
  inWindow: readonly number[],
  nowSecs: number,
  { maxChanges, windowSecs }: ChangeLimit,
): ChangesExhausted | undefined {
  // If the limit was lowered meanwhile, more than the oldest of them must leave the window.
  const blocking = inWindow.at(-maxChanges);
  return blocking === undefined ? undefined : { retryAfterSecs: blocking + windowSecs - nowSecs };
}
