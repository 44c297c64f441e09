export interface LookupLimits {
  /** Maximum number of lookups in flight. */
  readonly total: number;
  /** Maximum number of lookups in flight per requester. */
  readonly perRequester: number;
  /** Maximum number of queued lookups; more are refused. */
  readonly waiting: number;
  /** How long addresses are cached. The caller checks an address before each call, cached or not. */
  readonly successMs: number;
  /** How long a failure is cached. */
  readonly failureMs: number;
  /** Maximum number of cached names. */
  readonly names: number;
}

export const LOOKUP_LIMITS: LookupLimits = {
  total: 256,
  perRequester: 4,
  waiting: 1_024,
  successMs: 2_000,
  failureMs: 5_000,
  names: 10_000,
};

interface Outcome {
  /** Undefined if the lookup failed. */
  readonly addresses: readonly string[] | undefined;
  readonly expiresAtMs: number;
}

interface Waiting extends LookupOptions {
  readonly start: () => void;
  readonly giveUp: () => void;
}

/**
 * Limits lookups (one at a time per name, a few per requester, and in total) and caches outcomes for seconds. A lookup counts until it
 * has finished, even if no caller waits for it any more.
 *
 * @param nowMs a monotonic clock.
 */
export function createBoundedResolve(
  resolve: Resolve = resolveBySystem,
  limits = LOOKUP_LIMITS,
  nowMs = () => performance.now(),
): Resolve {
  const outcomes = new Map<string, Outcome>();
  const pending = new Map<string, Promise<readonly string[]>>();
  const inFlightOf = new Map<string, number>();
  const waiting = new Set<Waiting>();
  let inFlight = 0;

  function store(name: string, addresses: readonly string[] | undefined): void {
    outcomes.delete(name);
    const [oldest] = outcomes.size >= limits.names ? outcomes.keys() : [];
    if (oldest !== undefined) outcomes.delete(oldest);
    const ttlMs = addresses === undefined ? limits.failureMs : limits.successMs;
    outcomes.set(name, { addresses, expiresAtMs: nowMs() + ttlMs });
  }

  const mayStart = (requester: string | undefined) =>
    inFlight < limits.total &&
    (requester === undefined || (inFlightOf.get(requester) ?? 0) < limits.perRequester);

  function count(requester: string | undefined, by: 1 | -1): void {
    inFlight += by;
    if (requester === undefined) return;
    const own = (inFlightOf.get(requester) ?? 0) + by;
    if (own === 0) inFlightOf.delete(requester);
    else inFlightOf.set(requester, own);
  }

  function release(requester: string | undefined): void {
    count(requester, -1);
    for (const next of waiting) {
      if (next.signal?.aborted) {
        waiting.delete(next);
        next.giveUp();
      } else if (mayStart(next.requester)) {
        waiting.delete(next);
        count(next.requester, 1);
        next.start();
      }
    }
  }

  /** @throws if the queue is full or the lookup was cancelled. */
  async function acquireSlot({ requester, signal }: LookupOptions): Promise<void> {
    if (mayStart(requester)) return count(requester, 1);
    if (waiting.size >= limits.waiting) throw new Error("too many lookups wait");
    const turn = Promise.withResolvers<void>();
    const giveUp = () => turn.reject(new Error("the lookup was cancelled"));
    waiting.add({ requester, signal, start: turn.resolve, giveUp });
    await turn.promise;
  }

  async function lookUp(name: string, options: LookupOptions): Promise<readonly string[]> {
    try {
      const addresses = await resolve(name, options);
      store(name, addresses);
      return addresses;
    } catch (cause) {
      store(name, undefined);
      throw cause;
    } finally {
      pending.delete(name);
      release(options.requester);
    }
  }

  /** Returns the cached outcome of a name, or that of a lookup in flight. */
  function cachedOrPending(name: string): Promise<readonly string[]> | undefined {
    const outcome = outcomes.get(name);
    if (outcome === undefined || nowMs() >= outcome.expiresAtMs) return pending.get(name);
    return outcome.addresses
      ? Promise.resolve(outcome.addresses)
      : Promise.reject(new Error("a recent lookup of the name failed"));
  }

  return async (name, options = {}) => {
    const early = cachedOrPending(name);
    if (early) return early;
    await acquireSlot(options);
    // Another call may have looked it up while this one waited.
    const meanwhile = cachedOrPending(name);
    if (meanwhile) {
      release(options.requester);
      return meanwhile;
    }
    const lookup = lookUp(name, options);
    pending.set(name, lookup);
    return lookup;
  };
}

interface LookupOptions {
  /** The key under which lookups are limited, such as the fid that causes them. Default: only the total limit applies. */
  readonly requester?: string;
  /** Aborts when the caller no longer needs the addresses. */
  readonly signal?: AbortSignal;
}

/**
 * Returns the addresses of a host name, in the order in which to try them.
 *
 * @throws if the name has no address, or no server responds.
 */
export type Resolve = (name: string, options?: LookupOptions) => Promise<readonly string[]>;

/**
 * Resolves like other programs on this machine: hosts file first, then the configured name servers with the search domains.
 *
 * It does not use `getaddrinfo`, which blocks a thread of the process's pool while a name server does not respond: eight such names would
 * block every lookup and every file read. A lookup without a response fails after about 6 seconds.
 *
 * IPv4 comes first: a machine without an IPv6 route would otherwise fail on every name that has both.
 */
export const resolveBySystem: Resolve = async (name) => {
  const records = await Bun.dns.lookup(name, { backend: "c-ares" });
  return records.toSorted((a, b) => a.family - b.family).map(({ address }) => address);
};

/** Maximum number of cached names; further names are looked up each time. */
const MAX_CACHED_NAMES = 10_000;

/** Caches lookups without expiry, for short-lived work on many URLs of few hosts. */
export function createCachedResolve(resolve: Resolve = resolveBySystem): Resolve {
  const cached = new Map<string, Promise<readonly string[]>>();
  return (name, options) => {
    const known = cached.get(name);
    if (known) return known;
    const lookup = resolve(name, options);
    if (cached.size < MAX_CACHED_NAMES) cached.set(name, lookup);
    return lookup;
  };
}
