import type { SetTimer } from "../../src/runtime/clock.ts";
import type { ManualClock } from "./clock.ts";

/** Timers that a test fires, for code with one timer at a time. */
export class ManualTimers {
  #pending: { ms: number; work: () => void } | undefined;
  #next = Promise.withResolvers<void>();

  readonly after: SetTimer = (ms, work) => {
    const timer = { ms, work };
    this.#pending = timer;
    this.#next.resolve();
    this.#next = Promise.withResolvers();
    return () => {
      if (this.#pending === timer) this.#pending = undefined;
    };
  };

  /** The duration of the current timer; undefined without one. */
  get pendingMs(): number | undefined {
    return this.#pending?.ms;
  }

  /** Resolves when the next timer is set. */
  next(): Promise<void> {
    return this.#next.promise;
  }

  /** Lets the duration of the current timer elapse. */
  fire(clock: ManualClock): void {
    const timer = this.#pending;
    if (!timer) throw new Error("no timer is set");
    this.#pending = undefined;
    clock.advanceSecs(timer.ms / 1000);
    timer.work();
  }
}
