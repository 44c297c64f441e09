/** How long the follower waits for what. Milliseconds. */
export interface Timings {
  /** Between two looks for new blocks of shard 0. */
  readonly pollMs: number;
  /** Before the first of a row of tries; each further one waits twice as long. */
  readonly retryMs: number;
  readonly maxRetryMs: number;
  /** A stream that says nothing for so long is opened anew; one block comes each second. */
  readonly stallMs: number;
  /** For the answer to one call. */
  readonly callTimeoutMs: number;
}

export const DEFAULT_TIMINGS: Timings = {
  pollMs: 1000,
  retryMs: 500,
  maxRetryMs: 30_000,
  stallMs: 30_000,
  callTimeoutMs: 60_000,
};

/** Waits; ends early, without a fault, when `signal` aborts. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}

/** The waits between tries that fail one after another. */
export class Backoff {
  #failures = 0;

  constructor(private readonly pace: Timings) {}

  /** Something came of the last try. */
  reset(): void {
    this.#failures = 0;
  }

  /** Waits before the next try. */
  async wait(signal: AbortSignal): Promise<void> {
    const { retryMs, maxRetryMs } = this.pace;
    const ms = Math.min(maxRetryMs, retryMs * 2 ** Math.min(this.#failures, 20));
    this.#failures += 1;
    await wait(ms, signal);
  }
}
