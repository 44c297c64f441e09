/** Who a look-up is for, and when it is wanted no more. */
export interface LookupOptions {
  /** Look-ups of one requester are bounded together, such as those that one fid causes; nobody's in particular when left out. */
  readonly requester?: string;
  /** Aborts when nobody waits for the addresses any more. */
  readonly signal?: AbortSignal;
}

/**
 * The addresses of a host name, in the order in which they are to be tried.
 *
 * @throws when the name has none, or nobody answers.
 */
export type Resolve = (name: string, options?: LookupOptions) => Promise<readonly string[]>;

/**
 * Asks as other programs on this machine do: hosts file, then the configured name servers with the search domains.
 *
 * Not by `getaddrinfo`, which holds a thread of the process's pool for as long as a name server does not answer: eight
 * such names stop every look-up, and every read of a file. What has no answer ends after about 6 seconds.
 *
 * IPv4 comes first: a machine without an IPv6 route would otherwise fail on every name that has both.
 */
export const resolveBySystem: Resolve = async (name) => {
  const answers = await Bun.dns.lookup(name, { backend: "c-ares" });
  return answers.toSorted((a, b) => a.family - b.family).map(({ address }) => address);
};

/** Names that are remembered; behind them every name is asked for anew. */
const MAX_CACHED_NAMES = 10_000;

/** Asks for each name once, for work on many URLs of few hosts that ends soon. */
export function createCachedResolve(resolve: Resolve = resolveBySystem): Resolve {
  const cached = new Map<string, Promise<readonly string[]>>();
  return (name, options) => {
    const known = cached.get(name);
    if (known) return known;
    const asked = resolve(name, options);
    if (cached.size < MAX_CACHED_NAMES) cached.set(name, asked);
    return asked;
  };
}
