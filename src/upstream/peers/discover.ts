import type { Contact } from "../calls/contacts.ts";
import { wait } from "../timings.ts";

/** Interval at which nodes are tried, in milliseconds. */
export const DISCOVER_EVERY_MS = 60_000;
const MAX_CANDIDATES = 32;
/** Maximum number of addresses remembered so as not to be tried again. */
const MAX_TRIED = 1000;
const MAX_URL_CHARS = 256;
const URL_FORM = /^https?:\/\/[^/?#@\s]+\/?$/i;

export interface DiscoveryDeps {
  readonly network: number;
  /** Returns the nodes known to a node from the settings, a different one on each call. */
  readonly contacts: () => Promise<readonly Contact[]>;
  /** Reports whether a node is already known, by `placeOf`. */
  readonly isKnown: (place: string) => boolean;
  /** Reports whether there is room for another node. */
  readonly hasRoom: () => boolean;
  /** Returns the public address of a host; undefined if it has any other address, or none. */
  readonly publicAddress: (host: string) => Promise<string | undefined>;
  /** Asks a node at its address, and follows it alongside the others if it belongs to the network. */
  readonly add: (url: string, address: string) => Promise<void>;
  readonly everyMs: number;
  readonly signal: AbortSignal;
}

/** Tries the nodes that the gossip of the known ones announces, one per minute. */
export async function runDiscovery(deps: DiscoveryDeps): Promise<void> {
  const { contacts, isKnown, hasRoom, publicAddress, add, everyMs, signal } = deps;
  const tried = new Set<string>();
  let candidates: string[] = [];
  for (;;) {
    await wait(everyMs, signal);
    if (signal.aborted) return;
    if (!hasRoom()) continue;
    // Some nodes do not serve this call.
    if (candidates.length === 0) candidates = candidatesOf(await contacts().catch(() => []), deps, tried);
    const url = candidates.shift();
    if (url === undefined || isKnown(placeOf(url))) continue;
    tried.add(placeOf(url));
    const [oldest] = tried;
    if (tried.size > MAX_TRIED && oldest !== undefined) tried.delete(oldest);
    const address = await publicAddress(new URL(url).hostname.replace(/^\[(.*)\]$/, "$1"));
    if (address !== undefined && !signal.aborted) await add(url, address).catch(() => {});
  }
}

/** Returns the host and port of a node. */
export function placeOf(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  return `${hostname}:${port || (protocol === "https:" ? 443 : 80)}`;
}

/** Returns the addresses at which the network's contacts serve, encrypted ones first. */
function candidatesOf(
  contacts: readonly Contact[],
  { network, isKnown }: Pick<DiscoveryDeps, "network" | "isKnown">,
  tried: ReadonlySet<string>,
): string[] {
  const urls = new Map<string, string>();
  for (const contact of contacts) {
    if (contact.network !== network || !isUrlOfNode(contact.rpcAddress)) continue;
    const url = contact.rpcAddress.replace(/\/$/, "");
    const place = placeOf(url);
    if (!tried.has(place) && !isKnown(place)) urls.set(place, url);
  }
  const isPlain = (url: string) => Number(!/^https:/i.test(url));
  return [...urls.values()].sort((a, b) => isPlain(a) - isPlain(b)).slice(0, MAX_CANDIDATES);
}

function isUrlOfNode(text: string): boolean {
  return text.length <= MAX_URL_CHARS && URL_FORM.test(text) && URL.canParse(text);
}
