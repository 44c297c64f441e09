/** Runs a bounded number of tasks at a time and queues a bounded number of others, in order of arrival. */
export class ConcurrencyLimit {
  readonly #waiting: (() => void)[] = [];
  readonly #limits: { readonly running: number; readonly waiting: number };
  #running = 0;

  /** @param limits the maximum number of running and of waiting tasks. */
  constructor(limits: { readonly running: number; readonly waiting: number }) {
    this.#limits = limits;
  }

  /** Runs a task when a slot is free. Returns undefined when too many tasks wait already. */
  run<T>(task: () => Promise<T>): Promise<T> | undefined {
    if (this.#running >= this.#limits.running && this.#waiting.length >= this.#limits.waiting)
      return undefined;
    return this.#run(task);
  }

  async #run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limits.running) this.#running++;
    // A finished task hands its slot over, so that a new task cannot overtake the queue.
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
