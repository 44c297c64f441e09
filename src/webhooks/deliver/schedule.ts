/** When a delivery is tried again. */
export interface RetryPolicy {
  /** In all, the first one included. */
  readonly maxAttempts: number;
  /** Wait behind the first attempt; each further one is twice as long. */
  readonly initialBackoffMs: number;
}

/** Longest wait that a receiver can ask for by Retry-After. */
export const MAX_RETRY_AFTER_MS = 3_600_000;
/** Doubling ends here, well before what waits would be forgotten. */
export const MAX_BACKOFF_MS = 86_400_000;

const JITTER = 0.2;

/**
 * How long to wait behind an attempt that failed.
 *
 * @param attempt which one it was, from 1 on.
 * @param askedMs what the receiver asked for; the wait is never shorter.
 * @param random from 0 to below 1: deliveries that fail together do not come back together.
 * @returns undefined when there are no more attempts.
 */
export function retryDelayMs(
  policy: RetryPolicy,
  attempt: number,
  askedMs: number,
  random: number,
): number | undefined {
  if (attempt >= policy.maxAttempts) return undefined;
  const backoffMs = Math.min(policy.initialBackoffMs * 2 ** (attempt - 1), MAX_BACKOFF_MS);
  const jitteredMs = backoffMs * (1 - JITTER + 2 * JITTER * random);
  return Math.round(Math.max(jitteredMs, Math.min(askedMs, MAX_RETRY_AFTER_MS)));
}

/** The longest wait that `retryWaitMs` answers. */
export function longestRetryWaitMs({ maxAttempts, initialBackoffMs }: RetryPolicy): number {
  const backoffMs = Math.min(initialBackoffMs * 2 ** Math.max(maxAttempts - 2, 0), MAX_BACKOFF_MS);
  return Math.max(Math.ceil(backoffMs * (1 + JITTER)), MAX_RETRY_AFTER_MS);
}
