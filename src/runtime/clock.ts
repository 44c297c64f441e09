/** A source of time that tests can replace. */
export interface Clock {
  /** Unix time in milliseconds. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/** Unix time in whole seconds. */
export function nowSecs(clock: Clock): number {
  return Math.floor(clock.nowMs() / 1000);
}
