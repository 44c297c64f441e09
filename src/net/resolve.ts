/** Options of a lookup. */
export interface LookupOptions {
  /** Key under which lookups are limited, such as the fid that causes them. Default: only the total limit applies. */
  readonly requester?: string;
  /** Aborts when the caller no longer needs the addresses. */
  readonly signal?: AbortSignal;
}

/**
 * Returns the addresses of a host name, in the order in which they are to be tried.
 *
 * @throws when the name has no address, or no server responds.
 */
export type Resolve = (name: string, options?: LookupOptions) => Promise<readonly string[]>;

/**
 * Resolves like other programs on this machine: hosts file, then the configured name servers with the search domains.
 *
 * It does not use `getaddrinfo`, which blocks a thread of the process's pool while a name server does not respond: eight
 * such names would block every lookup and every file read. A lookup without a response fails after about 6 seconds.
 *
 * IPv4 comes first: a machine without an IPv6 route would otherwise fail on every name that has both.
 */
export const resolveBySystem: Resolve = async (name) => {
  const records = await Bun.dns.lookup(name, { backend: "c-ares" });
  return records.toSorted((a, b) => a.family - b.family).map(({ address }) => address);
};

/** Limit of cached names; further names are looked up each time. */
const MAX_CACHED_NAMES = 10_000;

/** Caches lookups without expiry, for short work on many URLs of few hosts. */
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
