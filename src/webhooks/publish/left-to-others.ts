import type { OtherProcesses } from "../store/delivery-publications.ts";

/**
 * Deliveries are deleted 7 days after their end. An event that is published after that is delivered again; a process that
 * comes back after a week must not do that.
 */
const MAX_AGE_SECS = 6 * 86_400;
/** Another process has certainly applied a live change that is this much younger than the start of its live run. */
const LIVE_MARGIN_SECS = 60;

/**
 * Returns whether a process leaves an event to others, which have published it or will. What a process applies while it fills or
 * after a gap yields other events than the same blocks do live.
 *
 * @param appliedAt when this process applied the cause of the event, unix seconds.
 */
export function isLeftToOthers(appliedAt: number, others: OtherProcesses, nowSecs: number): boolean {
  const { ownLiveSince, othersLiveSince } = others;
  if (appliedAt < nowSecs - MAX_AGE_SECS) return true;
  const wasOwnLive = ownLiveSince !== null && appliedAt >= ownLiveSince;
  return !wasOwnLive && othersLiveSince !== null && othersLiveSince + LIVE_MARGIN_SECS <= appliedAt;
}
