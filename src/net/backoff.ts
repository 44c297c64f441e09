/** Jitter as a fraction of the delay, so that tasks that fail together are not retried together. */
export const JITTER = 0.2;

/** Returns the delay in ms after the given number of failures (from 1): `initialMs`, doubled with each further one, at most `maxMs`. */
export function exponentialBackoffMs(initialMs: number, failures: number, maxMs: number): number {
  return Math.min(initialMs * 2 ** (failures - 1), maxMs);
}

/** Varies a delay by up to `JITTER` in either direction. @param random from 0 (inclusive) to 1 (exclusive). */
export function withJitter(delayMs: number, random: number): number {
  return delayMs * (1 - JITTER + 2 * JITTER * random);
}

const DELTA_SECONDS = /^\d{1,9}$/;
/** IMF-fixdate, and the older form with a hyphenated date (RFC 9110 5.6.7). */
const HTTP_DATE = /^[A-Z][a-z]{2,8}, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Parses a Retry-After header, seconds or a date, as a delay in milliseconds.
 *
 * @returns 0 for a missing or invalid header, and never more than `maxMs`.
 */
export function retryAfterMs(header: string | null, nowMs: number, maxMs: number): number {
  const text = header?.trim() ?? "";
  if (DELTA_SECONDS.test(text)) return Math.min(Number(text) * 1000, maxMs);
  if (!HTTP_DATE.test(text)) return 0;
  const waitMs = Date.parse(text) - nowMs;
  return Number.isNaN(waitMs) ? 0 : Math.min(Math.max(waitMs, 0), maxMs);
}
