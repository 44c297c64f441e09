import { isIP } from "node:net";
import { hostOfUrl } from "../../config/upstream-urls.ts";
import { classify, parseAddress } from "../../net/address-class.ts";
import { type Resolve, resolveBySystem } from "../../net/resolve.ts";

/**
 * Concurrent calls and calls per second if the settings leave them open. The operator's own node takes what it can; on
 * other nodes this one is a guest.
 */
const PRIVATE = { concurrency: 32, callsPerSec: 0 };
const PUBLIC = { concurrency: 4, callsPerSec: 20 };
const LOOKUP_TIMEOUT_MS = 3000;

/** Reports whether a host has a public address. A name that does not resolve counts as public until it does. */
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

/** Returns the first address of a host whose addresses are all public; undefined for any other host. */
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

/** Limits for calls to a node. */
export interface CallLimits {
  /** Concurrent calls. */
  readonly concurrency: number;
  /** 0 for no limit. */
  readonly callsPerSec: number;
}

/** Returns the limits for calls to a node: those from the settings, or where they are 0, those for its location. */
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

/** Looks up where a node is, and returns the limits for calls to it. */
export async function limitsOf(settings: LimitSettings, url: string): Promise<CallLimits> {
  return limitsFor(settings, await isPublicHost(hostOfUrl(url)));
}

/** `upstream.concurrency` and `upstream.max_calls_per_sec`. */
export interface LimitSettings {
  readonly concurrency: number;
  readonly max_calls_per_sec: number;
}
