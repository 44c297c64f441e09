/** Whether an origin is this node's own: that of a page which the node itself serves. */
export type IsOwnOrigin = (origin: string) => boolean;

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"] as const;
/** Addresses that a listener of every address is reported with. */
const WILDCARD_NAMES: readonly string[] = ["0.0.0.0", "[::]"];

/**
 * Creates the check of origins. The node's own are that of `service.public_url` and, where it listens on a loopback address or on all,
 * the names of loopback at its port. A page of another program on the visitor's machine has another port.
 *
 * @param listening the URL that the interface listens on; undefined before it does.
 */
export function createOwnOrigins(publicUrl: string, listening: () => string | undefined): IsOwnOrigin {
  const published = publicUrl === "" ? undefined : new URL(publicUrl).origin;
  return (origin) => {
    if (origin === published) return true;
    const url = URL.parse(listening() ?? "");
    if (!url) return false;
    const { hostname, protocol, port } = url;
    const isOnLoopback =
      WILDCARD_NAMES.includes(hostname) ||
      hostname.startsWith("127.") ||
      LOOPBACK_NAMES.some((name) => name === hostname);
    const named = (name: string) => new URL(`${protocol}//${name}:${port}`).origin;
    return isOnLoopback && [hostname, ...LOOPBACK_NAMES].some((name) => named(name) === origin);
  };
}
