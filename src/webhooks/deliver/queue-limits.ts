import type { Config } from "../../config/schema.ts";
import type { CallLimit } from "../store/delivery-queue.ts";

/** How long a delivery may wait for its turn before it is dropped. */
const MAX_WAIT_MS = 15 * 60_000;
/** Limit of queued deliveries of one webhook, whatever its rate. */
const MAX_QUEUED_OF_WEBHOOK = 100_000;
/** Limit of all queued deliveries; beyond it, events wait in the outbox. */
export const MAX_QUEUED = 10_000_000;

type RateSettings = Pick<Config["webhooks"], "rate_limit" | "rate_limit_duration_secs">;

export function callLimitOf({ rate_limit, rate_limit_duration_secs }: RateSettings): CallLimit {
  return { calls: rate_limit, windowMs: rate_limit_duration_secs * 1000, maxWaitMs: MAX_WAIT_MS };
}

/** Returns how many deliveries the rate allows within the longest wait. More would only be dropped later. */
export function maxQueuedOf(settings: RateSettings): number {
  const { calls, windowMs, maxWaitMs } = callLimitOf(settings);
  const withinWait = Math.ceil((calls * maxWaitMs) / windowMs);
  return Math.min(Math.max(withinWait, calls), MAX_QUEUED_OF_WEBHOOK);
}

/** Returns the limits of the queue. They depend on settings that may change while the node runs. */
export function queueLimitsOf({ webhooks }: { readonly webhooks: RateSettings }): {
  readonly maxQueued: number;
} {
  return {
    get maxQueued() {
      return maxQueuedOf(webhooks);
    },
  };
}
