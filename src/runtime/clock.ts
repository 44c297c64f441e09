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

/** Calls `work` once after `ms`. Returns a function that cancels it. */
export type SetTimer = (ms: number, work: () => void) => () => void;

/** The process's timers. */
export const setTimer: SetTimer = (ms, work) => {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
};
