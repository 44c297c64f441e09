/** How much of a core the roots of accounts may take, beside what is always done at once. */
export interface WorkBudget {
  /** Whether more may be done now. */
  hasRoom(): boolean;
  /** Runs work and counts the time that it takes. */
  spend<T>(work: () => T): T;
}

const SHARE = 0.05;
const MAX_SAVED_MS = 250;

/**
 * A budget of 5 % of a core, of which a quarter of a second can be saved up. Work may exceed it; the next work then waits.
 *
 * @param nowMs a monotonic clock.
 */
export function createWorkBudget(nowMs: () => number): WorkBudget {
  let saved = MAX_SAVED_MS;
  let last = nowMs();
  return {
    hasRoom() {
      const now = nowMs();
      saved = Math.min(MAX_SAVED_MS, saved + (now - last) * SHARE);
      last = now;
      return saved > 0;
    },
    spend(work) {
      const start = nowMs();
      try {
        return work();
      } finally {
        saved -= nowMs() - start;
      }
    },
  };
}

/** For `trust.roots = "full"`: everything is done at once. */
export const NO_BUDGET: WorkBudget = { hasRoom: () => true, spend: (work) => work() };
