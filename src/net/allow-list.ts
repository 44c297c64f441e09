import ipaddr from "ipaddr.js";
import { type Address, type AddressClass, classify } from "./address-class.ts";

/**
 * Private networks are opened by any network around them. Loopback, link-local, metadata and their kin need one that
 * names just them, so that "0.0.0.0/0" does not hand out the cloud's credentials. The last group is nobody's to open.
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

/** Whether an address of the given class may be reached although it is not public. */
export type AllowList = (address: Address, addressClass: AddressClass) => boolean;

/**
 * The networks that the operator opens.
 *
 * @throws when one of `cidrs` is no network.
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

/** The network's first (`fill` 0) or last (`fill` 0xff) address. */
function edge(base: Address, bits: number, fill: number): Address {
  const bytes = base.toByteArray().map((byte, at) => {
    const kept = Math.min(8, Math.max(0, bits - at * 8));
    const mask = (0xff << (8 - kept)) & 0xff;
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
