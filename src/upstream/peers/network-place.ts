import { isIP } from "node:net";
import { hostOfUrl } from "../../config/upstream-urls.ts";
import { classify, parseAddress } from "../../net/address-class.ts";
import { type Resolve, resolveBySystem } from "../../net/resolve.ts";

/** Calls in flight and a second, where the settings leave them open: a node of one's own takes what it can, others are guests there. */
const PRIVATE = { concurrency: 32, callsPerSec: 0 };
const PUBLIC = { concurrency: 4, callsPerSec: 20 };
const LOOKUP_TIMEOUT_MS = 3000;

/** Whether a host has a public address. A name that does not resolve counts as public, until it does. */
export async function isPublicHost(host: string, resolve: Resolve = resolveBySystem): Promise<boolean> {
  if (isIP(host) !== 0) return isPublicAddress(host);
  if (host === "localhost" || host.endsWith(".localhost")) return false;
  try {
    const addresses = await resolve(host, { signal: AbortSignal.timeout(LOOKUP_TIMEOUT_MS) });
    return addresses.length === 0 || addresses.some(isPublicAddress);
  } catch {
    return true;
  }
}

/** Returns the first address of a host of which all addresses are public; undefined for any other host. */
export async function publicAddressOf(
  host: string,
  resolve: Resolve = resolveBySystem,
): Promise<string | undefined> {
  if (isIP(host) !== 0) return isPublicAddress(host) ? host : undefined;
  try {
    const addresses = await resolve(host, { signal: AbortSignal.timeout(LOOKUP_TIMEOUT_MS) });
    return addresses.every(isPublicAddress) ? addresses[0] : undefined;
  } catch {
    return undefined;
  }
}

function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  return address !== undefined && classify(address) === "public";
}

/** How a node is called. */
export interface CallLimits {
  /** Calls in flight. */
  readonly concurrency: number;
  /** 0 for no limit. */
  readonly callsPerSec: number;
}

/** The limits of calls to a node: those of the settings, and where they say 0 those of its place. */
export function limitsFor(
  { concurrency, max_calls_per_sec: callsPerSec }: LimitSettings,
  isPublic: boolean,
): CallLimits {
  const place = isPublic ? PUBLIC : PRIVATE;
  return {
    concurrency: concurrency || place.concurrency,
    callsPerSec: callsPerSec || place.callsPerSec,
  };
}

/** Looks up where a node is, and returns the limits of calls to it. */
export async function limitsOf(settings: LimitSettings, url: string): Promise<CallLimits> {
  return limitsFor(settings, await isPublicHost(hostOfUrl(url)));
}

/** `upstream.concurrency` and `upstream.max_calls_per_sec`. */
export interface LimitSettings {
  readonly concurrency: number;
  readonly max_calls_per_sec: number;
}
