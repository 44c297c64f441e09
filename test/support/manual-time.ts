import type { Clock, SetTimer } from "../../src/runtime/clock.ts";

interface Timer {
  readonly atMs: number;
  readonly work: () => void;
}

/** A clock and its timers, which a test advances. */
export class ManualTime implements Clock {
  #nowMs: number;
  readonly #timers = new Set<Timer>();

  constructor(startUnixSecs: number) {
    this.#nowMs = startUnixSecs * 1000;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  readonly after: SetTimer = (ms, work) => {
    const timer = { atMs: this.#nowMs + ms, work };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  /** How many timers wait. */
  get pending(): number {
    return this.#timers.size;
  }

  /** The time until the first timer fires; undefined without timers. */
  get nextInMs(): number | undefined {
    const [first] = [...this.#timers].map(({ atMs }) => atMs - this.#nowMs).sort((a, b) => a - b);
    return first;
  }

  /** Advances the time. The timers within it fire in order, each at its time. */
  advanceMs(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const due = [...this.#timers].filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (!due) break;
      this.#timers.delete(due);
      this.#nowMs = Math.max(this.#nowMs, due.atMs);
      due.work();
    }
    this.#nowMs = untilMs;
  }
}

/** What happens within this process takes a few turns of the event loop; what another one does would be kept from its processor. */
const EAGER_TURNS = 50;
const PAUSE_MS = 5;

/** Lets the event loop run until a condition holds. Otherwise the test's own timeout ends the wait. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; !(await isSo()); turn++)
    await (turn < EAGER_TURNS ? new Promise((resolve) => setImmediate(resolve)) : Bun.sleep(PAUSE_MS));
}
