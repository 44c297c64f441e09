/** Where the program reads time, so that tests decide what time it is. */
export interface Clock {
  /** Unix time in milliseconds. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/** Unix time in whole seconds. */
export function nowSecs(clock: Clock): number {
  return Math.floor(clock.nowMs() / 1000);
}
