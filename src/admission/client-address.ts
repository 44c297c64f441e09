import ipaddr from "ipaddr.js";
import type { Config } from "../config/schema.ts";
import { type Address, parseAddress } from "../net/address-class.ts";

/** How many addresses of a header are read. Real chains of proxies are shorter. */
const MAX_HOPS = 32;
/** An IPv6 address with brackets, quotes and a port is shorter. */
const MAX_VALUE_CHARS = 96;
/** For an element of `Forwarded`, which may also contain a host, a protocol and the proxy. */
const MAX_ELEMENT_CHARS = 512;
/** Peers whose address is remembered: parsing one takes a microsecond or two. */
const MAX_PEERS = 4_096;
const IPV6_CLIENT_BITS = 64;
const MAPPED_PREFIX_BITS = 96;

/** Address, and port (a number, or in `Forwarded` also a name). IPv6 addresses are in brackets unless there is no port. */
const NODE = /^(?:\[([0-9a-f:.]+)\](?::\w[\w.-]*)?|([0-9.]+)(?::\w[\w.-]*)?|([0-9a-f:.]+))$/i;

/** A parameter of an element of `Forwarded`, with the semicolon that follows it; an element may contain empty ones. */
const PARAMETER = /\s*(?:([\w!#$%&'*+.^`|~-]+)=("(?:[^"\\]|\\.)*"|[^\s;"]*))?\s*(?:;|$)/sy;

/** Who sent a request, according to its connection and the proxies that the operator trusts. */
export interface ClientAddress {
  /** In the usual notation; `unknown` for a request without a connection. */
  readonly address: string;
  /** The key of limits: an IPv4 address, or the /64 network of an IPv6 address, because one client usually has all of it. */
  readonly bucket: string;
}

/** Returns all values of a header, joined with commas in the order of the lines; undefined or null without the header. */
export type HeaderValue = (name: string) => string | null | undefined;

/** The other end of a connection. */
interface Peer {
  /** Undefined where the text is not an address. */
  readonly address: Address | undefined;
  readonly described: ClientAddress;
  readonly isProxy: boolean;
}

/** Finds the client of a request or call. */
export interface ClientAddresses {
  /**
   * @param peer the address at the other end of the connection, without its port; undefined without a connection.
   */
  of(peer: string | undefined, header: HeaderValue): ClientAddress;
  /** Reports whether that address is a trusted proxy. */
  isProxy(peer: string | undefined): boolean;
}

const UNKNOWN: ClientAddress = { address: "unknown", bucket: "unknown" };

/**
 * Creates the only rule for client addresses. The client is the peer of the connection. If the peer is a trusted proxy, the header from
 * the settings is read from the right, where each proxy appends the address that called it, and the client is the first address that is
 * not a trusted proxy. The walk ends at the last trusted address if it meets a value that is not an address, or after 32 addresses.
 * Clients can write anything to the left of that, so it is never read.
 */
export function createClientAddresses({
  trusted_proxies: trustedProxies,
  proxy_header: headerName,
}: Pick<Config["http"], "trusted_proxies" | "proxy_header">): ClientAddresses {
  const networks = trustedProxies.map(parseNetwork);
  const isTrusted = (address: Address) =>
    networks.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
  const valuesOf = headerName === "forwarded" ? forwardedFor : commaSeparated;
  const peers = new Map<string, Peer>();

  function peerOf(text: string): Peer {
    const known = peers.get(text);
    if (known !== undefined) return known;
    const address = parsePeer(text);
    const peer = {
      address,
      described: address === undefined ? UNKNOWN : describe(address),
      isProxy: address !== undefined && isTrusted(address),
    };
    if (peers.size >= MAX_PEERS) peers.clear();
    peers.set(text, peer);
    return peer;
  }

  return {
    isProxy: (peer) => peer !== undefined && peerOf(peer).isProxy,
    of(peer, header) {
      if (peer === undefined) return UNKNOWN;
      let { address: client, described, isProxy } = peerOf(peer);
      if (client === undefined || !isProxy) return described;
      let hops = 0;
      for (const value of valuesOf(header(headerName) ?? "")) {
        const address = hops++ < MAX_HOPS ? parseNode(value) : undefined;
        if (address === undefined) break;
        client = address;
        if (!isTrusted(client)) break;
      }
      return describe(client);
    },
  };
}

/** Returns the address of a peer as gRPC names it: `address:port`, IPv6 addresses with or without brackets. */
export function addressOfPeer(peer: string): string {
  return peer.slice(0, peer.lastIndexOf(":")).replace(/^\[|\]$/g, "");
}

function describe(address: Address): ClientAddress {
  const text = address.toString();
  if (!(address instanceof ipaddr.IPv6)) return { address: text, bucket: text };
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${text}/${IPV6_CLIENT_BITS}`);
  return { address: text, bucket: `${network}/${IPV6_CLIENT_BITS}` };
}

/** Converts IPv4-mapped IPv6 networks to IPv4 networks, as `unmapped` does for addresses. */
function parseNetwork(cidr: string): [Address, number] {
  const [base, bits] = ipaddr.parseCIDR(cidr);
  return base instanceof ipaddr.IPv6 && base.isIPv4MappedAddress() && bits >= MAPPED_PREFIX_BITS
    ? [base.toIPv4Address(), bits - MAPPED_PREFIX_BITS]
    : [base, bits];
}

function unmapped(address: Address | undefined): Address | undefined {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/** Removes the zone, which the system adds to a link-local address. */
function parsePeer(peer: string): Address | undefined {
  return unmapped(parseAddress(peer.replace(/%.*$/s, "")));
}

/** Parses an address with or without quotes, brackets and port. */
function parseNode(value: string): Address | undefined {
  const text = value.trim();
  if (text.length > MAX_VALUE_CHARS) return undefined;
  const match = NODE.exec(/^".*"$/s.test(text) ? text.slice(1, -1) : text);
  const address = match?.[1] ?? match?.[2] ?? match?.[3];
  if (address === undefined || (match?.[1] !== undefined && !address.includes(":"))) return undefined;
  return unmapped(parseAddress(address));
}

/** Yields the values of `X-Forwarded-For` from the right. */
function* commaSeparated(header: string): Generator<string> {
  for (let end = header.length; end > 0; ) {
    const comma = header.lastIndexOf(",", end - 1);
    yield header.slice(comma + 1, end);
    end = comma;
  }
}

/**
 * Yields the `for` of each element of `Forwarded` (RFC 7239) from the right, "" for an element without one. Quotes are matched from
 * the right, too, so that an open quote of the client does not swallow what the proxies append.
 */
function* forwardedFor(header: string): Generator<string> {
  let isQuoted = false;
  let end = header.length;
  for (let at = header.length - 1; at >= -1; at--) {
    if (at >= 0 && header[at] === '"' && !isEscaped(header, at)) isQuoted = !isQuoted;
    if (at >= 0 && (isQuoted || header[at] !== ",")) continue;
    yield forOf(header.slice(at + 1, end));
    end = at;
  }
}

function isEscaped(text: string, at: number): boolean {
  let start = at;
  while (text[start - 1] === "\\") start--;
  return (at - start) % 2 === 1;
}

/** Parameter names are case-insensitive. An element with two `for` parameters counts as having none. */
function forOf(element: string): string {
  if (element.length > MAX_ELEMENT_CHARS) return "";
  const found: string[] = [];
  for (let at = 0; at < element.length; ) {
    PARAMETER.lastIndex = at;
    const match = PARAMETER.exec(element);
    if (match === null) return "";
    if (match[1]?.toLowerCase() === "for") found.push(match[2] ?? "");
    at = PARAMETER.lastIndex;
  }
  return found.length === 1 ? (found[0] ?? "") : "";
}
