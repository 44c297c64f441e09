import { networkInterfaces } from "node:os";
import { isWildcardHost } from "../../config/formats.ts";

/** Decides whether a request was sent to this node under its own name, and whether a page of this node sent it. */
export type OwnOrigin = ReturnType<typeof createOwnOrigin>;

export interface OwnOriginDeps {
  /** `service.public_url`; empty for none. */
  readonly publicUrl: string;
  /** `http.host`. */
  readonly listenHost: string;
  /** Default: the machine's addresses, as text. */
  readonly ownAddresses?: () => readonly string[];
}

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Creates the check for one listening address. */
export function createOwnOrigin({ publicUrl, listenHost, ownAddresses = machineAddresses }: OwnOriginDeps) {
  const listening = hostOf(listenHost.includes(":") ? `[${listenHost}]` : listenHost)?.hostname;
  const isWildcard = isWildcardHost(listenHost);
  const publicOrigin = publicUrl === "" ? undefined : new URL(publicUrl);

  /** Reports whether the `Host` names this node. A foreign name that DNS resolves to this node does not (DNS rebinding). */
  function isOwnHost(header: string | null): boolean {
    const host = hostOf(header);
    if (!host) return false;
    const { hostname } = host;
    if (LOOPBACK.has(hostname) || (hostname === listening && !isWildcard)) return true;
    if (hostname === publicOrigin?.hostname) return true;
    return isWildcard && ownAddresses().includes(hostname);
  }

  return {
    isOwnHost,
    /**
     * Reports whether a browser sent the request from a page of this node, or no browser did: programs send no origin. An origin is
     * accepted if it is that of `service.public_url`, or if it is the one to which the request was sent, under an own name.
     */
    isOwnOrigin({ headers }: Pick<Request, "headers">): boolean {
      const origin = headers.get("origin");
      const site = headers.get("sec-fetch-site");
      if (site === "cross-site" || site === "same-site") return false;
      if (origin === null) return true;
      if (origin === publicOrigin?.origin) return true;
      const sender = URL.canParse(origin) ? new URL(origin) : undefined;
      const host = hostOf(headers.get("host"), sender?.protocol);
      return sender !== undefined && sender.host === host?.host && isOwnHost(headers.get("host"));
    },
  };
}

/** Returns the host and port of a `Host` header; undefined for anything else. */
function hostOf(header: string | null, protocol = "http:"): URL | undefined {
  if (header === null || !/^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:\d+)?$/.test(header)) return undefined;
  const text = `${protocol}//${header}`;
  return URL.canParse(text) ? new URL(text) : undefined;
}

function machineAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .map(({ address, family }) => (family === "IPv6" ? `[${address}]` : address));
}
