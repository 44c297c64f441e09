import ipaddr from "ipaddr.js";

const IPV6_PREFIX_PARTS = 4;

/**
 * Returns what counts as one client of the peer of a gRPC call: an IPv4 address, or the /64 network of an IPv6 address, which one
 * client has whole.
 *
 * @param peer `address:port`, IPv6 addresses in brackets.
 */
export function networkOfPeer(peer: string): string {
  const text = peer.slice(0, peer.lastIndexOf(":")).replace(/^\[|\]$/g, "");
  if (!ipaddr.isValid(text)) return text;
  const address = ipaddr.process(text);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  return address.parts
    .slice(0, IPV6_PREFIX_PARTS)
    .map((part) => part.toString(16))
    .join(":");
}
