/** Limits the share of a core that computing the roots of accounts may take. */
export interface WorkBudget {
  /** Reports whether more may be done now. */
  hasRoom(): boolean;
  /** Runs work and charges the time that it takes. */
  spend<T>(work: () => T): T;
}

const DEFAULT_SHARE = 0.05;
const MAX_SAVED_MS = 250;
const MAX_SAVED_OVER_MS = 5000;

/**
 * Creates a budget of a share of a core. The share of five seconds can be saved up, at most a quarter of a second. Work may
 * exceed the budget; the next work then waits.
 *
 * @param nowMs a monotonic clock.
 * @param share default: 5 %.
 */
export function createWorkBudget(nowMs: () => number, share = DEFAULT_SHARE): WorkBudget {
  const maxSaved = Math.min(MAX_SAVED_MS, share * MAX_SAVED_OVER_MS);
  let saved = maxSaved;
  let last = nowMs();
  return {
    hasRoom() {
      const now = nowMs();
      saved = Math.min(maxSaved, saved + (now - last) * share);
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
