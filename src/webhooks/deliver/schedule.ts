import { exponentialBackoffMs, JITTER, withJitter } from "../../net/backoff.ts";

/** When a delivery is retried. */
export interface RetryPolicy {
  /** Includes the first attempt. */
  readonly maxAttempts: number;
  /** Delay after the first attempt; it doubles with each further one. */
  readonly initialBackoffMs: number;
}

/** Longest delay that a receiver can request by Retry-After. */
export const MAX_RETRY_AFTER_MS = 3_600_000;
/** Limit of the doubling, well below the retention of deliveries. */
export const MAX_BACKOFF_MS = 86_400_000;

/**
 * Returns the delay after a failed attempt, in ms, or undefined if no attempts are left.
 *
 * @param attempt number of the attempt, from 1.
 * @param requestedMs the delay that the receiver requested; the result is never shorter.
 * @param random from 0 (inclusive) to 1 (exclusive), so that deliveries that fail together are not retried together.
 */
export function retryDelayMs(
  policy: RetryPolicy,
  attempt: number,
  requestedMs: number,
  random: number,
): number | undefined {
  if (attempt >= policy.maxAttempts) return undefined;
  const jitteredMs = withJitter(
    exponentialBackoffMs(policy.initialBackoffMs, attempt, MAX_BACKOFF_MS),
    random,
  );
  return Math.round(Math.max(jitteredMs, Math.min(requestedMs, MAX_RETRY_AFTER_MS)));
}

/** Returns the time from the first attempt to the last, in ms, without jitter and without delays that a receiver requests. */
export function retrySpanMs({ maxAttempts, initialBackoffMs }: RetryPolicy): number {
  let spanMs = 0;
  for (let attempt = 1; attempt < maxAttempts; attempt++)
    spanMs += exponentialBackoffMs(initialBackoffMs, attempt, MAX_BACKOFF_MS);
  return spanMs;
}

/** Returns the longest delay that `retryDelayMs` can return, in ms. */
export function maxRetryDelayMs({ maxAttempts, initialBackoffMs }: RetryPolicy): number {
  const backoffMs = exponentialBackoffMs(initialBackoffMs, Math.max(maxAttempts - 1, 1), MAX_BACKOFF_MS);
  return Math.max(Math.ceil(backoffMs * (1 + JITTER)), MAX_RETRY_AFTER_MS);
}
