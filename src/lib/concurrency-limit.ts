/** Runs a bounded number of tasks at a time; a bounded number of others waits, first come, first served. */
export class ConcurrencyLimit {
  readonly #waiting: (() => void)[] = [];
  readonly #limits: { readonly running: number; readonly waiting: number };
  #running = 0;

  /** @param limits tasks that run, and tasks that wait, at most. */
  constructor(limits: { readonly running: number; readonly waiting: number }) {
    this.#limits = limits;
  }

  /** Runs a task in its turn; undefined, at once, when too many wait already. */
  run<T>(task: () => Promise<T>): Promise<T> | undefined {
    if (this.#running >= this.#limits.running && this.#waiting.length >= this.#limits.waiting)
      return undefined;
    return this.#run(task);
  }

  async #run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limits.running) this.#running++;
    // Whoever ends hands its place over, so that nobody comes in between.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}
