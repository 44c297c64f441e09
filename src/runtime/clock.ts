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

/**
 * Returns the time until a multiple of `ms` on the machine's clock, but at least half of `ms`. Polls of several threads that are due
 * together wake the process only once: waking it costs more than most polls.
 */
export function msToBeat(ms: number): number {
  const leftMs = ms - (Date.now() % ms);
  return leftMs < ms / 2 ? leftMs + ms : leftMs;
}

/** Calls `work` once at the next multiple of `ms` on the machine's clock, see `msToBeat`. */
export const setBeat: SetTimer = (ms, work) => setTimer(msToBeat(ms), work);

/** Calls `work` at each multiple of `ms` on the machine's clock, see `msToBeat`. Returns a function that stops this. */
export function onBeat(ms: number, work: () => void): () => void {
  let cancel: () => void;
  const wait = () => {
    cancel = setBeat(ms, () => {
      wait();
      work();
    });
  };
  wait();
  return () => cancel();
}
