/** Calls `work` once after `ms`. Returns a function that cancels it. */
export type SetTimer = (ms: number, work: () => void) => () => void;

/** The process's timers. */
export const setTimer: SetTimer = (ms, work) => {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
};
