/** Jitter as a part of the delay: tasks that fail together are not retried together. */
export const JITTER = 0.2;

/** Returns the delay after the given number of failures (from 1): `initialMs`, doubled with each further one, at most `maxMs`. */
export function exponentialBackoffMs(initialMs: number, failures: number, maxMs: number): number {
  return Math.min(initialMs * 2 ** (failures - 1), maxMs);
}

/** Varies a delay by up to `JITTER` in either direction. @param random from 0 to below 1. */
export function withJitter(delayMs: number, random: number): number {
  return delayMs * (1 - JITTER + 2 * JITTER * random);
}
