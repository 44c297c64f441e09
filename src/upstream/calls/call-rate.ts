import { type ServiceError, status } from "@grpc/grpc-js";
import { wait } from "../timings.ts";

/** Minimum rate at which a node is called after it refused calls for their number. */
const MIN_PER_SEC = 0.5;
/** After this time without a refusal, the rate rises by half. */
const RECOVERY_MS = 10_000;
/** Fewer calls per second do not overload a node: following blocks takes one or two, so a refusal has another cause. */
const FEW_PER_SEC = 10;
/** A rate that has recovered to this becomes unlimited again, if it was before. */
const UNLIMITED_PER_SEC = 1000;
/** Calls that may be made at once after a pause, as time at the current rate. */
const BURST_MS = 1000;
/** A longer Retry-After counts as this. */
const MAX_RETRY_AFTER_MS = 300_000;

/**
 * Limits the calls per second to one node. A node that reports too many gets half as many, until it has accepted those for a
 * while.
 */
export class CallRate {
  /** Calls per second; infinite for no limit. */
  readonly #limit: number;
  readonly #nowMs: () => number;
  readonly #recoveryMs: number;
  #perSec: number;
  /** When the calls made so far are through at the current rate. */
  #paidUntilMs = 0;
  #blockedUntilMs = 0;
  #changedAtMs = 0;
  /** Calls in this second and in the previous one. */
  #counted = { second: 0, calls: 0, before: 0 };

  /**
   * @param limit calls per second; 0 for no limit.
   * @param options.nowMs a monotonic clock.
   * @param options.recoveryMs default: 10 seconds.
   */
  constructor(
    limit: number,
    {
      nowMs = () => performance.now(),
      recoveryMs = RECOVERY_MS,
    }: { nowMs?: () => number; recoveryMs?: number | undefined } = {},
  ) {
    this.#limit = limit === 0 ? Number.POSITIVE_INFINITY : limit;
    this.#perSec = this.#limit;
    this.#nowMs = nowMs;
    this.#recoveryMs = recoveryMs;
  }

  /** Calls per second at the moment. */
  get perSec(): number {
    return this.#perSec;
  }

  /** Counts a call, and returns in how many milliseconds it may be made. */
  delayMs(): number {
    const nowMs = this.#nowMs();
    this.#recover(nowMs);
    this.#count(nowMs);
    this.#paidUntilMs = Math.max(this.#paidUntilMs, nowMs) + 1000 / this.#perSec;
    return Math.max(0, this.#blockedUntilMs - nowMs, this.#paidUntilMs - nowMs - BURST_MS);
  }

  /** Waits until a call may be made. Returns early when `signal` aborts. */
  async take(signal: AbortSignal): Promise<void> {
    const ms = this.delayMs();
    if (ms > 0) await wait(ms, signal);
  }

  /**
   * Called for each failed call. If the node refused it for the number of calls, or because it is overloaded, the rate is
   * halved.
   */
  failed(cause: unknown): void {
    if (!isRefusedForLoad(cause)) return;
    const nowMs = this.#nowMs();
    this.#count(nowMs, 0);
    this.#blockedUntilMs = Math.max(this.#blockedUntilMs, nowMs + retryAfterMs(cause));
    // Calls that were in flight together count as one refusal.
    if (this.#changedAtMs !== 0 && nowMs - this.#changedAtMs < 1000 && this.#perSec < this.#limit) return;
    const made = Math.max(this.#counted.calls, this.#counted.before, FEW_PER_SEC);
    this.#perSec = Math.max(MIN_PER_SEC, Math.min(this.#perSec, made) / 2);
    this.#changedAtMs = nowMs;
  }

  #recover(nowMs: number): void {
    while (this.#perSec < this.#limit && nowMs - this.#changedAtMs >= this.#recoveryMs) {
      const faster = this.#perSec * 1.5;
      const top = Math.min(this.#limit, UNLIMITED_PER_SEC);
      this.#perSec = faster >= top ? this.#limit : faster;
      this.#changedAtMs += this.#recoveryMs;
    }
  }

  #count(nowMs: number, calls = 1): void {
    const second = Math.floor(nowMs / 1000);
    const { second: last, calls: counted } = this.#counted;
    if (second !== last) this.#counted = { second, calls: 0, before: second === last + 1 ? counted : 0 };
    this.#counted.calls += calls;
  }
}

/** Faults of the connection, which the gRPC library reports with the same code as an overloaded node. */
const OF_THE_CONNECTION =
  /No connection established|Connection dropped|ECONN|EPIPE|Name resolution|socket|Stream closed/i;
/** A response beyond the limits of this side. */
const TOO_LARGE = /larger than max/;

function isRefusedForLoad(cause: unknown): cause is ServiceError {
  if (!(cause instanceof Error) || !("code" in cause)) return false;
  const { code, details = "" } = cause as ServiceError;
  if (code === status.RESOURCE_EXHAUSTED) return !TOO_LARGE.test(details);
  return code === status.UNAVAILABLE && !OF_THE_CONNECTION.test(details);
}

/** Returns how long the node asks to wait, given in seconds or as a date, as in HTTP. */
function retryAfterMs({ metadata }: ServiceError): number {
  const text = String(metadata?.get("retry-after")[0] ?? "");
  if (text === "") return 0;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? 0 : Math.min(MAX_RETRY_AFTER_MS, Math.max(0, ms));
}
