import type { Config } from "../../config/schema.ts";
import type { CallLimit } from "../store/deliveries.ts";

/** How long a delivery waits for its turn before it is given up. */
const MAX_WAIT_MS = 15 * 60_000;
/** Deliveries that may wait for one webhook, whatever its rate. */
const MAX_QUEUED_OF_WEBHOOK = 100_000;
/** Deliveries that may wait in all; beyond that, events wait in the outbox. */
export const MAX_QUEUED = 10_000_000;

type RateSettings = Pick<Config["webhooks"], "rate_limit" | "rate_limit_duration_secs">;

export function callLimitOf({ rate_limit, rate_limit_duration_secs }: RateSettings): CallLimit {
  return { calls: rate_limit, windowMs: rate_limit_duration_secs * 1000, maxWaitMs: MAX_WAIT_MS };
}

/** What the rate lets through while the last of them waits its turn; whatever comes on top would be given up anyway. */
export function maxQueuedOf(settings: RateSettings): number {
  const { calls, windowMs, maxWaitMs } = callLimitOf(settings);
  const withinWait = Math.ceil((calls * maxWaitMs) / windowMs);
  return Math.min(Math.max(withinWait, calls), MAX_QUEUED_OF_WEBHOOK);
}
