/** Delays and timeouts of following, in milliseconds. */
export interface Timings {
  /** Interval between polls for new blocks of shard 0. */
  readonly pollMs: number;
  /** Delay before the first retry. Each further one is twice as long. */
  readonly retryMs: number;
  readonly maxRetryMs: number;
  /** Interval between checks whether a full index has room. */
  readonly roomPollMs: number;
  /** A stream that sends nothing for this long is opened again. The upstream makes one block per second. */
  readonly stallMs: number;
  /** Timeout for the response to one call. */
  readonly callTimeoutMs: number;
  /** Interval between requests for the newest blocks of a node that is not followed. */
  readonly headPollMs: number;
  /** Without a block for this long, another node that has a newer one takes over. */
  readonly silenceMs: number;
  /** The longest first pause of a node that was left. Each further pause may be twice as long. */
  readonly coolMs: number;
  readonly maxCoolMs: number;
  /** Interval between checks of the upstream's next engine version. Default: an hour. */
  readonly engineCheckMs?: number;
  /**
   * Timeout for one node's response to a question about events on which a decision rests. Default: that of
   * `createConfirmEvents`.
   */
  readonly confirmMs?: number;
  /** Interval between comparisons of the on-chain events of a random fid. Default: that of `sampleEvents`. */
  readonly sampleMs?: number;
  /** How soon a node that refused calls for their number gets more of them again. Default: that of `CallRate`. */
  readonly rateRecoveryMs?: number;
}

export const DEFAULT_TIMINGS: Timings = {
  pollMs: 1000,
  retryMs: 500,
  maxRetryMs: 30_000,
  roomPollMs: 5_000,
  stallMs: 30_000,
  callTimeoutMs: 60_000,
  headPollMs: 10_000,
  silenceMs: 15_000,
  coolMs: 1000,
  maxCoolMs: 60_000,
};

/** Waits for `ms`. Resolves early when `signal` aborts. */
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

/** Delays between consecutive failures, doubling each time. */
export class Backoff {
  #failures = 0;

  readonly #timings: Timings;

  constructor(timings: Timings) {
    this.#timings = timings;
  }

  /** Resets the delay. Called after a success. */
  reset(): void {
    this.#failures = 0;
  }

  /** Waits before the next try. */
  async wait(signal: AbortSignal): Promise<void> {
    const { retryMs, maxRetryMs } = this.#timings;
    const ms = Math.min(maxRetryMs, retryMs * 2 ** Math.min(this.#failures, 20));
    this.#failures += 1;
    await wait(ms, signal);
  }
}
