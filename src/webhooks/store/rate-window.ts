import type { ClaimRequest } from "./delivery-queue.ts";

/** Number of parts of a window; a part counts until all of it has left the window. */
const PARTS = 60;

/** The window of a rate limit, in which calls are counted by parts. Parts count as a whole, which makes the limit stricter by at most one part and the hold. */
export interface RateWindow {
  readonly partMs: number;
  /** A part that starts within this time before a claim counts, so that no span of the window's length has more starts of calls than the limit. */
  readonly reachMs: number;
}

export function rateWindowOf({ limit, maxHoldMs }: Pick<ClaimRequest, "limit" | "maxHoldMs">): RateWindow {
  const partMs = Math.max(Math.ceil(limit.windowMs / PARTS), 1);
  return { partMs, reachMs: limit.windowMs + maxHoldMs + partMs };
}
