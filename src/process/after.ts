/** Calls `work` once after a while; answers how to call it off. */
export type After = (ms: number, work: () => void) => () => void;

/** The process's timers. */
export const afterTimeout: After = (ms, work) => {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
};
