/** What one call tells of a host. `none`: nothing, as when no call was made. */
export type CallOutcome = "well" | "busy" | "down" | "none";

/** How a host that does not answer is treated. */
export interface CircuitBreakerSettings {
  /** Calls in a row without an answer after which a host counts as down. */
  readonly failuresUntilDown: number;
  /** From then on one call probes it, first after so long, then each time after twice as long. */
  readonly firstProbeMs: number;
  readonly maxProbeMs: number;
  /** How long a host may be down until nobody waits for it any more. */
  readonly giveUpAfterMs: number;
}

export const DEFAULT_CIRCUIT_BREAKER: CircuitBreakerSettings = {
  failuresUntilDown: 3,
  firstProbeMs: 1_000,
  maxProbeMs: 30_000,
  giveUpAfterMs: 30_000,
};

/** Calls at a time to a host of which nothing is known; to another one, so many more than it has had. */
const INITIAL_CONCURRENCY = 4;
/** What was known of a host is forgotten when it was not called for so long. */
const FORGOTTEN_AFTER_MS = 1_000;

/** Whether a host may be called now: `free`, `probe` (this one call), `wait`, or `given-up`. */
export type Admission = "free" | "probe" | "wait" | "given-up";

/**
 * What is known of a client host, from the calls to it. It starts with few calls at a time and gets one more for each
 * answer, but never many more than it has had at once, so that a host which hangs never holds many more of the process's slots than it
 * has just needed. Times are readings of a
 * monotonic clock, ms.
 */
export class CircuitBreaker {
  readonly #pacing: CircuitBreakerSettings;
  #concurrencyLimit = INITIAL_CONCURRENCY;
  #inFlight = 0;
  #mostInFlight = 0;
  #lastEndedAt = 0;
  #failuresInRow = 0;
  #downSince: number | undefined;
  #probes = 0;
  /** No call before this. */
  #notBefore = 0;

  constructor(pacing: CircuitBreakerSettings) {
    this.#pacing = pacing;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get isDown(): boolean {
    return this.#downSince !== undefined;
  }

  /** Nothing would be lost by forgetting it. */
  get isIdle(): boolean {
    return this.#inFlight === 0 && this.#downSince === undefined;
  }

  admission(nowMs: number): Admission {
    const isEarly = nowMs < this.#notBefore;
    if (this.#downSince === undefined) {
      return isEarly || this.#inFlight >= this.#concurrencyLimit ? "wait" : "free";
    }
    if (!isEarly && this.#inFlight === 0) return "probe";
    return nowMs - this.#downSince >= this.#pacing.giveUpAfterMs ? "given-up" : "wait";
  }

  /** When `admission` may change by itself; Infinity where only a call that ends changes it. */
  nextChangeAt(nowMs: number): number {
    const givenUpAt = this.#downSince === undefined ? nowMs : this.#downSince + this.#pacing.giveUpAfterMs;
    return Math.min(later(this.#notBefore, nowMs), later(givenUpAt, nowMs));
  }

  begin(nowMs: number): void {
    if (this.#inFlight === 0 && nowMs - this.#lastEndedAt > FORGOTTEN_AFTER_MS) {
      this.#concurrencyLimit = Math.min(this.#concurrencyLimit, INITIAL_CONCURRENCY);
      this.#mostInFlight = 0;
    }
    this.#inFlight += 1;
    this.#mostInFlight = Math.max(this.#mostInFlight, this.#inFlight);
  }

  /** @param waitMs for how long the host wants to be left alone */
  end(
    call: { readonly isProbe: boolean; readonly sign: CallOutcome; readonly waitMs: number },
    nowMs: number,
  ): void {
    this.#inFlight -= 1;
    this.#lastEndedAt = nowMs;
    this.#notBefore = Math.max(this.#notBefore, nowMs + call.waitMs);
    if (call.sign === "none") return;
    if (call.sign === "well") {
      this.#concurrencyLimit = Math.min(this.#concurrencyLimit + 1, this.#mostInFlight + INITIAL_CONCURRENCY);
    } else this.#concurrencyLimit = Math.max(1, this.#concurrencyLimit >> 1);
    if (call.sign === "down") this.#fail(call.isProbe, nowMs);
    else this.#recover();
  }

  #recover(): void {
    this.#failuresInRow = 0;
    this.#downSince = undefined;
    this.#probes = 0;
  }

  #fail(isProbe: boolean, nowMs: number): void {
    this.#failuresInRow += 1;
    if (this.#failuresInRow < this.#pacing.failuresUntilDown) return;
    // Calls that were under way when it went down say nothing new.
    if (this.#downSince !== undefined && !isProbe) return;
    this.#downSince ??= nowMs;
    const { firstProbeMs, maxProbeMs } = this.#pacing;
    this.#notBefore = Math.max(
      this.#notBefore,
      nowMs + Math.min(firstProbeMs * 2 ** this.#probes, maxProbeMs),
    );
    this.#probes += 1;
  }
}

/** The time, where it is still to come. */
function later(timeMs: number, nowMs: number): number {
  return timeMs > nowMs ? timeMs : Number.POSITIVE_INFINITY;
}
