import ipaddr from "ipaddr.js";
import { type Address, type AddressClass, classify } from "../address-class.ts";

/**
 * Any network that contains a private network allows it. Loopback, link-local, metadata and similar classes need a network of only that
 * class, so that "0.0.0.0/0" does not expose the cloud's credentials. The last group is never allowed.
 */
const OPENED_BY_ANY: ReadonlySet<AddressClass> = new Set(["public", "private", "shared", "benchmark"]);
const OPENED_BY_NONE: ReadonlySet<AddressClass> = new Set([
  "unspecified",
  "broadcast",
  "multicast",
  "ipv4-mapped",
  "ipv4-compatible",
]);

interface AllowedNetwork {
  readonly range: [Address, number];
  /** The class of the whole network, unless it spans several. */
  readonly only: AddressClass | undefined;
}

/** Reports whether a non-public address of a class may be called. */
export type AllowList = (address: Address, addressClass: AddressClass) => boolean;

/**
 * Creates the allow list from the operator's networks.
 *
 * @throws if one of `cidrs` is not a network.
 */
export function createAllowList(cidrs: readonly string[]): AllowList {
  const networks = cidrs.map(parseAllowed);
  return (address, addressClass) => networks.some((network) => opens(network, address, addressClass));
}

function parseAllowed(cidr: string): AllowedNetwork {
  const [base, bits] = ipaddr.parseCIDR(cidr);
  const first = edge(base, bits, 0);
  const last = edge(base, bits, 0xff);
  const only = classify(first) === classify(last) ? classify(first) : undefined;
  return { range: [base, bits], only };
}

/** Returns the network's first (`fill` 0) or last (`fill` 0xff) address. */
function edge(base: Address, bits: number, fill: number): Address {
  const bytes = base.toByteArray().map((byte, at) => {
    const prefixBits = Math.min(8, Math.max(0, bits - at * 8));
    const mask = (0xff << (8 - prefixBits)) & 0xff;
    return (byte & mask) | (fill & ~mask);
  });
  return ipaddr.fromByteArray(bytes);
}

function opens(network: AllowedNetwork, address: Address, addressClass: AddressClass): boolean {
  const [base, bits] = network.range;
  if (base.kind() !== address.kind() || !address.match(base, bits)) return false;
  if (OPENED_BY_NONE.has(addressClass)) return false;
  return OPENED_BY_ANY.has(addressClass) || network.only === addressClass;
}
