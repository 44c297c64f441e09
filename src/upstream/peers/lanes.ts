import type { Lane } from "../../auth/owners/owners.ts";

/** Number of questions running at a time, and waiting. Unsigned requests get little of both. */
export const LANES: Readonly<Record<Lane, { readonly running: number; readonly waiting: number }>> = {
  signed: { running: 4, waiting: 256 },
  open: { running: 2, waiting: 32 },
};
export const TOO_MANY_QUESTIONS = "too many owners are being confirmed at a time";

export function createLanes(): Readonly<Record<Lane, Slots>> {
  return { signed: new Slots(LANES.signed), open: new Slots(LANES.open) };
}

/** The slots of one lane. */
class Slots {
  readonly #limits: { readonly running: number; readonly waiting: number };
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(limits: { readonly running: number; readonly waiting: number }) {
    this.#limits = limits;
  }

  /** Resolves when it is the caller's turn; undefined if too many are waiting. */
  take(): Promise<void> | undefined {
    if (this.#running < this.#limits.running) {
      this.#running += 1;
      return Promise.resolve();
    }
    if (this.#waiting.length >= this.#limits.waiting) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }
}
