/** What the parts of a soak did, failed to do and how long it took, since it was last taken. */
export interface Tally {
  done(what: string): void;
  /** Counts something that should not have happened, with its reason. */
  failed(what: string, reason: unknown): void;
  /** Runs a call and records its time. If it fails, that is counted instead. */
  timed(what: string, call: () => Promise<unknown>): Promise<void>;
  took(what: string, us: number): void;
  /** Returns everything and starts over. */
  take(): {
    readonly done: Record<string, number>;
    readonly failed: Record<string, number>;
    readonly tookUs: Record<string, number[]>;
  };
}

const MAX_REASON_CHARS = 160;

export function createTally(): Tally {
  const empty = () => ({
    done: {} as Record<string, number>,
    failed: {} as Record<string, number>,
    tookUs: {} as Record<string, number[]>,
  });
  let now = empty();
  const tally: Tally = {
    done(what) {
      now.done[what] = (now.done[what] ?? 0) + 1;
    },
    failed(what, reason) {
      const text = reason instanceof Error ? reason.message : String(reason);
      const key = `${what}: ${text.slice(0, MAX_REASON_CHARS)}`;
      now.failed[key] = (now.failed[key] ?? 0) + 1;
    },
    took(what, us) {
      const all = now.tookUs[what];
      if (all) all.push(Math.round(us));
      else now.tookUs[what] = [Math.round(us)];
    },
    async timed(what, call) {
      const startedMs = performance.now();
      try {
        await call();
        tally.took(what, (performance.now() - startedMs) * 1000);
        tally.done(what);
      } catch (cause) {
        tally.failed(what, cause);
      }
    },
    take() {
      const taken = now;
      now = empty();
      return taken;
    },
  };
  return tally;
}
