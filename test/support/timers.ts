import type { SetTimer } from "../../src/runtime/set-timer.ts";
import type { ManualClock } from "./clock.ts";

/** Timers that go off when a test says so, of somebody who has one at a time. */
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

  /** How long the present timer takes; undefined without one. */
  get pendingMs(): number | undefined {
    return this.#pending?.ms;
  }

  /** Resolves when the next timer is set. */
  next(): Promise<void> {
    return this.#next.promise;
  }

  /** Lets the time of the present timer pass. */
  fire(clock: ManualClock): void {
    const timer = this.#pending;
    if (!timer) throw new Error("nobody waits");
    this.#pending = undefined;
    clock.advanceSecs(timer.ms / 1000);
    timer.work();
  }
}
