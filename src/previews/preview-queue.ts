import type { PreviewUrl } from "./preview-url.ts";

/** Limits on calls of one host. */
export const HOST_LIMITS = {
  /** Maximum number of concurrent calls. */
  running: 1,
  /** Maximum number of consecutive calls without a pause. */
  burst: 5,
  /** Time until one more call is allowed, in milliseconds. */
  refillMs: 2_000,
  perDay: 500,
} as const;

const MAX_WAITING = 10_000;
const MAX_RUNNING = 8;
/**
 * Maximum number of URLs of one client that are fetched before those that no client waits for. Its further URLs are queued with the
 * latter.
 */
const MAX_URGENT_OF_CLIENT = 16;
const MAX_HOSTS = 20_000;
const DAY_MS = 86_400_000;

interface Host {
  tokens: number;
  /** When the tokens were counted, in milliseconds. */
  countedAtMs: number;
  day: number;
  calls: number;
  restsUntilMs: number;
  running: number;
}

export interface Waiting extends PreviewUrl {
  /** The client that waits for the URL. Such URLs are fetched before all others. */
  readonly urgentFor: string | undefined;
  /** The host whose turn is awaited: the URL's own, or one that it redirected to. */
  readonly waitsFor: string;
  /** How often the URL was put back. */
  readonly returns: number;
}

/**
 * Queue of URLs to fetch, oldest first, those that a client waits for before the others. Limits the number of queued and running URLs,
 * and the calls of each host. Times are from a monotonic clock.
 */
export class PreviewQueue {
  readonly #urgent = new Map<string, Waiting>();
  readonly #urgentOf = new Map<string, number>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #hosts = new Map<string, Host>();
  readonly #running = new Set<string>();
  /** Number of URLs that were dropped because the queue was full. */
  dropped = 0;

  get waiting(): number {
    return this.#waiting.size + this.#urgent.size;
  }

  get running(): number {
    return this.#running.size;
  }

  has(href: string): boolean {
    return this.#running.has(href) || this.#waiting.has(href) || this.#urgent.has(href);
  }

  /** Adds a URL unless it is already queued or running. If the queue is full, the oldest URL is dropped. */
  add(
    { href, host }: PreviewUrl,
    { urgentFor = undefined as string | undefined, waitsFor = host, returns = 0 } = {},
  ): void {
    if (this.#running.has(href) || this.#urgent.has(href)) return;
    const urgent = urgentFor === undefined ? 0 : (this.#urgentOf.get(urgentFor) ?? 0);
    if (urgentFor !== undefined && urgent < MAX_URGENT_OF_CLIENT) {
      this.#waiting.delete(href);
      this.#urgent.set(href, { href, host, urgentFor, waitsFor, returns });
      this.#urgentOf.set(urgentFor, urgent + 1);
    } else if (this.#waiting.has(href)) return;
    else this.#waiting.set(href, { href, host, urgentFor: undefined, waitsFor, returns });
    if (this.waiting <= MAX_WAITING) return;
    for (const oldest of (this.#waiting.size > 0 ? this.#waiting : this.#urgent).values()) {
      this.#remove(oldest);
      this.dropped += 1;
      break;
    }
  }

  #remove({ href, urgentFor }: Waiting): void {
    if (urgentFor === undefined) {
      this.#waiting.delete(href);
      return;
    }
    this.#urgent.delete(href);
    const left = (this.#urgentOf.get(urgentFor) ?? 0) - 1;
    if (left > 0) this.#urgentOf.set(urgentFor, left);
    else this.#urgentOf.delete(urgentFor);
  }

  /** Takes the next URL that may be fetched now, and counts a call of its host. Undefined if all have to wait. */
  take(nowMs: number): Waiting | undefined {
    if (this.#running.size >= MAX_RUNNING) return undefined;
    const closed = new Set<string>();
    for (const list of [this.#urgent, this.#waiting]) {
      for (const one of list.values()) {
        if (this.#blocked(one, closed, nowMs) !== undefined) continue;
        const host = this.#hostOf(one.host, nowMs);
        this.#remove(one);
        this.#running.add(one.href);
        host.running += 1;
        this.#spend(host);
        return one;
      }
    }
    return undefined;
  }

  /** Counts another call of a host, which a redirect leads to. Returns false if it may not be called now. */
  call(name: string, nowMs: number): boolean {
    if (this.#readyAtMs(name, nowMs) > nowMs) return false;
    this.#spend(this.#hostOf(name, nowMs));
    return true;
  }

  /** Ends the call of a URL that was taken. */
  end({ href, host: name }: PreviewUrl): void {
    this.#running.delete(href);
    const host = this.#hosts.get(name);
    if (host) host.running -= 1;
  }

  /** Pauses calls of a host. */
  rest(name: string, forSecs: number, nowMs: number): void {
    const host = this.#hostOf(name, nowMs);
    host.restsUntilMs = Math.max(host.restsUntilMs, nowMs + forSecs * 1000);
  }

  /** Returns when the next queued URL may be taken; undefined if none may before a running one ends. */
  nextAtMs(nowMs: number): number | undefined {
    if (this.#running.size >= MAX_RUNNING) return undefined;
    let next = Number.POSITIVE_INFINITY;
    const closed = new Set<string>();
    for (const list of [this.#urgent, this.#waiting])
      for (const one of list.values()) next = Math.min(next, this.#blocked(one, closed, nowMs) ?? nowMs);
    return next === Number.POSITIVE_INFINITY ? undefined : next;
  }

  /**
   * Returns when a URL may be taken, infinity if it waits for another URL; undefined if it may be taken now. The first URL that waits for
   * a host blocks later ones for the same host.
   */
  #blocked({ host, waitsFor, returns }: Waiting, closed: Set<string>, nowMs: number): number | undefined {
    if (closed.has(host) || closed.has(waitsFor)) return Number.POSITIVE_INFINITY;
    if (this.#hostOf(host, nowMs).running >= HOST_LIMITS.running) {
      closed.add(host);
      return Number.POSITIVE_INFINITY;
    }
    // A URL that its own host put back led to that host again, so it needs another call each time.
    const ownMs = this.#readyAtMs(host, nowMs, waitsFor === host ? 1 + returns : 1);
    if (ownMs > nowMs) {
      closed.add(host);
      return ownMs;
    }
    const otherMs = waitsFor === host ? nowMs : this.#readyAtMs(waitsFor, nowMs);
    if (otherMs <= nowMs) return undefined;
    closed.add(waitsFor);
    return otherMs;
  }

  #spend(host: Host): void {
    host.tokens -= 1;
    host.calls += 1;
  }

  /** Returns when a host may be called this many times more. */
  #readyAtMs(name: string, nowMs: number, calls = 1): number {
    const host = this.#hostOf(name, nowMs);
    if (host.calls >= HOST_LIMITS.perDay) return (host.day + 1) * DAY_MS;
    const refilledAtMs = host.tokens >= calls ? nowMs : nowMs + (calls - host.tokens) * HOST_LIMITS.refillMs;
    return Math.max(refilledAtMs, host.restsUntilMs);
  }

  #hostOf(name: string, nowMs: number): Host {
    const day = Math.floor(nowMs / DAY_MS);
    let host = this.#hosts.get(name);
    if (host) {
      host.tokens = Math.min(
        HOST_LIMITS.burst,
        host.tokens + (nowMs - host.countedAtMs) / HOST_LIMITS.refillMs,
      );
      host.countedAtMs = nowMs;
      if (host.day !== day) {
        host.day = day;
        host.calls = 0;
      }
      return host;
    }
    if (this.#hosts.size >= MAX_HOSTS) this.#forgetIdle();
    host = { tokens: HOST_LIMITS.burst, countedAtMs: nowMs, day, calls: 0, restsUntilMs: 0, running: 0 };
    this.#hosts.set(name, host);
    return host;
  }

  /** Forgets half of the hosts, in the order in which they were added. */
  #forgetIdle(): void {
    let left = MAX_HOSTS / 2;
    for (const [name, host] of this.#hosts) {
      if (host.running > 0) continue;
      this.#hosts.delete(name);
      if (--left === 0) return;
    }
  }
}
