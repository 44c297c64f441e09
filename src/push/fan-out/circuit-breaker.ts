import { exponentialBackoffMs } from "../../net/backoff.ts";

/** Status of a host as one call observed it. `none`: nothing is known, for example without a call. */
export type HostStatus = "ok" | "busy" | "down" | "none";

/** How a host that does not respond is treated. */
export interface CircuitBreakerSettings {
  /** Consecutive calls without a response after which a host counts as down. */
  readonly failuresUntilDown: number;
  /** Delay before the first call that probes a host that is down; it doubles with each further probe. */
  readonly firstProbeMs: number;
  readonly maxProbeMs: number;
  /** How long a host may be down before requests for it are given up. */
  readonly giveUpAfterMs: number;
}

export const DEFAULT_CIRCUIT_BREAKER: CircuitBreakerSettings = {
  failuresUntilDown: 3,
  firstProbeMs: 1_000,
  maxProbeMs: 30_000,
  giveUpAfterMs: 30_000,
};

/** Concurrent calls to a new host; later the limit exceeds the maximum that were in flight by this much. */
const INITIAL_CONCURRENCY = 4;
/** The concurrency limit of a host is reset after this time without calls. */
const FORGOTTEN_AFTER_MS = 1_000;
/** How long after its last call a host counts as down: without sends, no call would ever show that it is up again. */
const DOWN_UNTIL_MS = 3_600_000;

/** Whether a host may be called now: `free`, `probe` (only this call), `wait` or `given-up`. */
export type Admission = "free" | "probe" | "wait" | "given-up";

/**
 * Circuit breaker and concurrency limit of one client host. The limit starts low and grows by one with each response, but
 * never far above the calls that were in flight at once, so that a host that starts to hang does not occupy many more
 * slots than it has just needed. Times are readings of a monotonic clock, ms.
 */
export class CircuitBreaker {
  readonly #settings: CircuitBreakerSettings;
  #concurrencyLimit = INITIAL_CONCURRENCY;
  #inFlight = 0;
  #mostInFlight = 0;
  #lastEndedAt = 0;
  #failuresInRow = 0;
  #downSince: number | undefined;
  #probes = 0;
  /** No calls before this time. */
  #notBefore = 0;

  constructor(settings: CircuitBreakerSettings) {
    this.#settings = settings;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  isDown(nowMs: number): boolean {
    if (this.#downSince === undefined) return false;
    return this.#inFlight > 0 || nowMs - this.#lastEndedAt < DOWN_UNTIL_MS;
  }

  /** Reports whether it can be removed without losing information. */
  isIdle(nowMs: number): boolean {
    return this.#inFlight === 0 && nowMs >= this.#notBefore && !this.isDown(nowMs);
  }

  admission(nowMs: number): Admission {
    const isEarly = nowMs < this.#notBefore;
    if (this.#downSince === undefined) {
      return isEarly || this.#inFlight >= this.#concurrencyLimit ? "wait" : "free";
    }
    if (!isEarly && this.#inFlight === 0) return "probe";
    return nowMs - this.#downSince >= this.#settings.giveUpAfterMs ? "given-up" : "wait";
  }

  /** Returns when `admission` may change without a call; Infinity if only the end of a call can change it. */
  nextChangeMs(nowMs: number): number {
    const givenUpAt = this.#downSince === undefined ? nowMs : this.#downSince + this.#settings.giveUpAfterMs;
    return Math.min(later(this.#notBefore, nowMs), later(givenUpAt, nowMs));
  }

  start(nowMs: number): void {
    if (this.#inFlight === 0 && nowMs - this.#lastEndedAt > FORGOTTEN_AFTER_MS) {
      this.#concurrencyLimit = Math.min(this.#concurrencyLimit, INITIAL_CONCURRENCY);
      this.#mostInFlight = 0;
    }
    this.#inFlight += 1;
    this.#mostInFlight = Math.max(this.#mostInFlight, this.#inFlight);
  }

  /** @param waitMs the delay that the host requested before the next call */
  finish(
    call: { readonly isProbe: boolean; readonly hostStatus: HostStatus; readonly waitMs: number },
    nowMs: number,
  ): void {
    this.#inFlight -= 1;
    this.#lastEndedAt = nowMs;
    this.#notBefore = Math.max(this.#notBefore, nowMs + call.waitMs);
    if (call.hostStatus === "none") return;
    if (call.hostStatus === "ok") {
      this.#concurrencyLimit = Math.min(this.#concurrencyLimit + 1, this.#mostInFlight + INITIAL_CONCURRENCY);
    } else this.#concurrencyLimit = Math.max(1, this.#concurrencyLimit >> 1);
    if (call.hostStatus === "down") this.#fail(call.isProbe, nowMs);
    else this.#recover();
  }

  #recover(): void {
    this.#failuresInRow = 0;
    this.#downSince = undefined;
    this.#probes = 0;
  }

  #fail(isProbe: boolean, nowMs: number): void {
    this.#failuresInRow += 1;
    if (this.#failuresInRow < this.#settings.failuresUntilDown) return;
    // Calls that were in flight when it went down are not new evidence.
    if (this.#downSince !== undefined && !isProbe) return;
    this.#downSince ??= nowMs;
    const { firstProbeMs, maxProbeMs } = this.#settings;
    this.#notBefore = Math.max(
      this.#notBefore,
      nowMs + exponentialBackoffMs(firstProbeMs, this.#probes + 1, maxProbeMs),
    );
    this.#probes += 1;
  }
}

/** Returns the time if it is in the future, else Infinity. */
function later(timeMs: number, nowMs: number): number {
  return timeMs > nowMs ? timeMs : Number.POSITIVE_INFINITY;
}
