import type { Config } from "../../config/schema.ts";
import type { CallLimit } from "../store/delivery-queue.ts";

/** How long a delivery waits for its turn before it is dropped. */
const MAX_WAIT_MS = 15 * 60_000;
/** Limit of queued deliveries of one webhook, at any rate. */
const MAX_QUEUED_OF_WEBHOOK = 100_000;
/** Limit of all queued deliveries; beyond it, events wait in the outbox. */
export const MAX_QUEUED = 10_000_000;

type RateSettings = Pick<Config["webhooks"], "rate_limit" | "rate_limit_duration_secs">;

export function callLimitOf({ rate_limit, rate_limit_duration_secs }: RateSettings): CallLimit {
  return { calls: rate_limit, windowMs: rate_limit_duration_secs * 1000, maxWaitMs: MAX_WAIT_MS };
}

/** The deliveries that the rate lets through within the longest wait; more of them would be dropped later anyway. */
export function maxQueuedOf(settings: RateSettings): number {
  const { calls, windowMs, maxWaitMs } = callLimitOf(settings);
  const withinWait = Math.ceil((calls * maxWaitMs) / windowMs);
  return Math.min(Math.max(withinWait, calls), MAX_QUEUED_OF_WEBHOOK);
}

/** The limits of the queue by settings that may change while the node runs. */
export function queueLimitsOf({ webhooks }: { readonly webhooks: RateSettings }): {
  readonly maxQueued: number;
} {
  return {
    get maxQueued() {
      return maxQueuedOf(webhooks);
    },
  };
}
