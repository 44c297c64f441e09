/** Calls `work` once after a while; answers how to call it off. */
export type SetTimer = (ms: number, work: () => void) => () => void;

/** The process's timers. */
export const setTimer: SetTimer = (ms, work) => {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
};
