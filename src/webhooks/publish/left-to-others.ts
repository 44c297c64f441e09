import type { OtherProcesses } from "../store/delivery-publications.ts";

/**
 * Deliveries are deleted 7 days after their end. An event published after that would be delivered again, so a process that returns after
 * a week must not publish it.
 */
const MAX_AGE_SECS = 6 * 86_400;
/** If a live change is this much younger than the start of another process's live run, that process has certainly applied it. */
const LIVE_MARGIN_SECS = 60;

/**
 * Reports whether a process leaves an event to others, which have published it or will. Changes that a process applies while it fills its
 * index, or after a gap, yield different events than the same blocks do live.
 *
 * @param appliedAt when this process applied the cause of the event, unix seconds.
 */
export function isLeftToOthers(appliedAt: number, others: OtherProcesses, nowSecs: number): boolean {
  const { ownLiveSince, othersLiveSince } = others;
  if (appliedAt < nowSecs - MAX_AGE_SECS) return true;
  const wasOwnLive = ownLiveSince !== null && appliedAt >= ownLiveSince;
  return !wasOwnLive && othersLiveSince !== null && othersLiveSince + LIVE_MARGIN_SECS <= appliedAt;
}
