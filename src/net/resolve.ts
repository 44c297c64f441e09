import { lookup } from "node:dns/promises";

/**
 * The addresses of a host name, in the order in which they are to be tried.
 *
 * @throws when the name has none, or nobody answers.
 */
export type Resolve = (name: string) => Promise<readonly string[]>;

/**
 * Asks as every other program on this machine does: hosts file, then the configured name servers.
 *
 * IPv4 comes first: a machine without an IPv6 route would otherwise fail on every name that has both.
 */
export const resolveBySystem: Resolve = async (name) => {
  const answers = await lookup(name, { all: true, order: "ipv4first" });
  return answers.map((answer) => answer.address);
};

/** Names that are remembered; behind them every name is asked for anew. */
const MAX_CACHED_NAMES = 10_000;

/** Asks for each name once, for work on many URLs of few hosts that ends soon. */
export function createCachedResolve(resolve: Resolve = resolveBySystem): Resolve {
  const cached = new Map<string, Promise<readonly string[]>>();
  return (name) => {
    const known = cached.get(name);
    if (known) return known;
    const asked = resolve(name);
    if (cached.size < MAX_CACHED_NAMES) cached.set(name, asked);
    return asked;
  };
}
