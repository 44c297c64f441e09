import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** The purpose of an address according to IANA's special-purpose registries (RFC 6890 and its successors). */
export type AddressClass =
  | "public"
  | "unspecified"
  | "loopback"
  | "private"
  | "link-local"
  | "shared"
  | "metadata"
  | "benchmark"
  | "documentation"
  | "multicast"
  | "broadcast"
  | "ipv4-mapped"
  | "ipv4-compatible"
  | "nat64"
  | "6to4"
  | "teredo"
  | "anycast-service"
  | "reserved";

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

const parseRange = (cidr: string): [Address, number] => ipaddr.parseCIDR(cidr);

/** Ranges that the library classifies too broadly, as ordinary unicast, or not at all. */
const OWN_RANGES: readonly [AddressClass, [Address, number][]][] = [
  // Azure's agent endpoint is the only metadata service on an address that looks public; AWS and Google use unique local ones.
  [
    "metadata",
    ["168.63.129.16/32", "169.254.169.254/32", "fd00:ec2::254/128", "fd20:ce::254/128"].map(parseRange),
  ],
  ["benchmark", ["198.18.0.0/15", "2001:2::/48"].map(parseRange)],
  [
    "documentation",
    ["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"].map(parseRange),
  ],
  ["6to4", ["192.88.99.0/24", "2002::/16"].map(parseRange)],
  ["nat64", ["64:ff9b::/96", "64:ff9b:1::/48", "::ffff:0:0:0/96"].map(parseRange)],
  // These two are inside `::/96`, so they must be matched first.
  ["loopback", ["::1/128"].map(parseRange)],
  ["unspecified", ["::/128"].map(parseRange)],
  ["ipv4-compatible", ["::/96"].map(parseRange)],
  // Returned by the 6bone and not reassigned since.
  ["reserved", ["3ffe::/16"].map(parseRange)],
];

/** All classes of the library, so that a class added later never counts as public. */
const LIBRARY_CLASSES: Record<string, AddressClass> = {
  unicast: "public",
  unspecified: "unspecified",
  broadcast: "broadcast",
  multicast: "multicast",
  linkLocal: "link-local",
  loopback: "loopback",
  carrierGradeNat: "shared",
  private: "private",
  uniqueLocal: "private",
  deprecatedSiteLocal: "private",
  ipv4Mapped: "ipv4-mapped",
  rfc6052: "nat64",
  rfc6145: "nat64",
  "6to4": "6to4",
  teredo: "teredo",
  benchmarking: "benchmark",
  as112: "anycast-service",
  as112v6: "anycast-service",
  amt: "anycast-service",
};

/** The block from which public IPv6 unicast is assigned (RFC 4291 2.4, IANA). */
const GLOBAL_UNICAST_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");

/** Parses an address in the usual notation, without a zone or unusual spellings; undefined for everything else. */
export function parseAddress(text: string): Address | undefined {
  if (isIP(text) === 0 || text.includes("%")) return undefined;
  return ipaddr.parse(text);
}

/** Returns the class of an address; `reserved` if it is not known to be public. */
export function classify(address: Address): AddressClass {
  for (const [addressClass, ranges] of OWN_RANGES) {
    if (ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits))) {
      return addressClass;
    }
  }
  const known = LIBRARY_CLASSES[address.range()] ?? "reserved";
  if (known === "public" && address.kind() === "ipv6" && !address.match(GLOBAL_UNICAST_IPV6))
    return "reserved";
  return known;
}
