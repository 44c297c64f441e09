import { networkInterfaces } from "node:os";
import { GenerationCache } from "../lib/generation-cache.ts";
import { type Err, err, ok, type Result } from "../lib/result.ts";
import { hasUnprintable } from "../lib/text.ts";
import { type Address, classify, parseAddress } from "./address-class.ts";
import { type AllowList, createAllowList } from "./guard/allow-list.ts";
import { createBoundedResolve, type Resolve } from "./resolve.ts";

export const MAX_URL_CHARS = 2048;
const MAX_ADDRESSES = 16;
const DNS_TIMEOUT_MS = 3_000;
const MAX_NAME_CHARS = 253;
/** Maximum number of URLs and addresses whose classification is cached, per generation of the cache. */
const MAX_CACHED = 512;
const OWN_ADDRESSES_MAX_AGE_MS = 1_000;
const TOO_LONG = `must be at most ${MAX_URL_CHARS} characters long`;
// RFC 952 does not allow underscores in host names, but they are in use.
const NAME_LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

export interface CheckedAddress {
  /** Without brackets. */
  readonly address: string;
  readonly family: 4 | 6;
}

/** A URL that may be stored, and that may be called only at `address`. */
export interface CheckedUrl extends CheckedAddress {
  /** The parsed URL, with any trailing dot of the host removed. All checks of the same text share the object. */
  readonly url: URL;
  /** All checked addresses, `address` first. */
  readonly addresses: readonly CheckedAddress[];
}

export type UrlRefusalKind = "malformed" | "scheme" | "credentials" | "port" | "dns" | "address";

/** Why a URL is refused. */
export interface UrlRefusal {
  readonly kind: UrlRefusalKind;
  /**
   * Text for the client that follows the name of the field, such as "must use https". It is the same for a name that does not exist and
   * an internal one, so that it cannot be used to enumerate internal names.
   */
  readonly reason: string;
}

function refused(kind: UrlRefusalKind, reason: string): Err<UrlRefusal> {
  return err({ kind, reason });
}

export type UrlGuard = ReturnType<typeof createUrlGuard>;

/** Checks URLs that are stored and never called. */
export interface RegistrationGuard {
  check(url: string, requester?: string): Promise<Result<unknown, UrlRefusal>>;
}

export interface UrlGuardOptions {
  /** Non-public networks that may be called (`net.allow_cidrs`). */
  readonly allowCidrs: readonly string[];
  /** Whether plain http is allowed (`net.allow_http`). */
  readonly allowHttp: boolean;
  /** Default: the system's resolver with bounded lookups. */
  readonly resolve?: Resolve;
  readonly dnsTimeoutMs?: number;
  /** This machine's addresses in the form of RFC 5952. Default: those of its network interfaces. */
  readonly ownAddresses?: () => readonly string[];
  /** Paths that this process itself serves and may call. Default: none. No setting adds any. */
  readonly loopbackTargets?: readonly LoopbackTarget[] | undefined;
}

/**
 * Creates the guard that checks URLs of third parties, at registration and again at every call.
 *
 * It accepts only https (or http if the operator allows it) without credentials, to a host whose addresses are all public. It accepts
 * every port but 0: receivers use many ports, and a TLS request cannot be mistaken for another protocol.
 *
 * @throws if one of `allowCidrs` is not a network; the settings are checked for that.
 */
export function createUrlGuard(options: UrlGuardOptions) {
  const resolve = options.resolve ?? createBoundedResolve();
  const dnsTimeoutMs = options.dnsTimeoutMs ?? DNS_TIMEOUT_MS;
  const ownAddresses = atMostOnceASecond(options.ownAddresses ?? interfaceAddresses);
  const loopbackTargets = options.loopbackTargets ?? [];
  const allows = createAllowList(options.allowCidrs);
  // Neither the parts of a URL nor the class of an address ever changes; names are resolved at every check.
  const parsedUrls = new GenerationCache<string, ParsedUrl>(MAX_CACHED);
  const addresses = new GenerationCache<string, ClassifiedAddress>(MAX_CACHED);

  function parse(text: string): Result<ParsedUrl, UrlRefusal> {
    const known = parsedUrls.get(text);
    if (known) return ok(known);
    const url = parseUrl(text, options.allowHttp);
    if (!url.ok) return url;
    const host = url.value.hostname.replace(/^\[|\]$/g, "");
    const parsed = { url: url.value, host, literal: classified(host) };
    parsedUrls.set(text, parsed);
    return ok(parsed);
  }

  /** Returns undefined if the text is not an address. */
  function classified(text: string): ClassifiedAddress | undefined {
    const known = addresses.get(text);
    if (known) return known;
    const address = parseAddress(text);
    if (!address) return undefined;
    const entry = classifiedAddress(address, allows);
    addresses.set(text, entry);
    return entry;
  }

  function mayReach({ reach, address }: ClassifiedAddress): boolean {
    return reach === "allowed" || (reach === "public" && !ownAddresses().includes(address));
  }

  return {
    /**
     * Checks a URL against the current DNS records. It never throws: an unresolvable name is a refusal.
     *
     * @param requester key under which DNS lookups are limited, such as `fid:3`.
     */
    async check(text: string, requester?: string): Promise<Result<CheckedUrl, UrlRefusal>> {
      const own = findLoopbackTarget(text, loopbackTargets);
      if (own) return ok(checkedUrl(own, [{ address: LOOPBACK_HOST, family: 4 }]));
      const parsed = parse(text);
      if (!parsed.ok) return parsed;
      const { url, host, literal } = parsed.value;
      if (literal) {
        return mayReach(literal)
          ? ok(checkedUrl(url, [literal]))
          : refused("address", "must not point to an address that is not public");
      }
      const resolved = await resolveInTime(resolve, host, requester, dnsTimeoutMs);
      const found: ClassifiedAddress[] = [];
      for (const text of resolved.slice(0, MAX_ADDRESSES)) {
        const address = classified(text);
        // One internal address is enough to refuse: a host with both kinds is misconfigured or malicious.
        if (!address || !mayReach(address)) return unreachableName("address");
        found.push(address);
      }
      const [first, ...others] = found;
      return first ? ok(checkedUrl(url, [first, ...others])) : unreachableName("dns");
    },
  };
}

/**
 * Creates a guard for URLs that are never called: https URLs with a host under `suffix` (such as ".demo.example") pass although no one has
 * registered the name. `guard` checks all others.
 */
export function acceptingNamesUnder(suffix: string, guard: UrlGuard): RegistrationGuard {
  return {
    async check(text, requester) {
      const url = parseUrl(text, false);
      return url.ok && url.value.hostname.endsWith(suffix) ? url : guard.check(text, requester);
    },
  };
}

interface ParsedUrl {
  readonly url: URL;
  /** Without brackets. */
  readonly host: string;
  /** The host, if it is an address. */
  readonly literal: ClassifiedAddress | undefined;
}

/** An address and who may call it: `allowed` by the operator, `public` if it is not this machine's, or `none`. */
interface ClassifiedAddress extends CheckedAddress {
  readonly reach: "allowed" | "public" | "none";
}

function classifiedAddress(address: Address, allows: AllowList): ClassifiedAddress {
  const addressClass = classify(address);
  const unlisted = addressClass === "public" ? "public" : "none";
  return {
    address: address.toString(),
    family: address.kind() === "ipv4" ? 4 : 6,
    reach: allows(address, addressClass) ? "allowed" : unlisted,
  };
}

function checkedUrl(url: URL, addresses: readonly [CheckedAddress, ...CheckedAddress[]]): CheckedUrl {
  const checked = addresses.map(({ address, family }) => ({ address, family }));
  const [{ address, family }] = addresses;
  return { url, address, family, addresses: checked };
}

function unreachableName(kind: "dns" | "address"): Err<UrlRefusal> {
  return refused(kind, "must have a host that resolves to public addresses only");
}

function parseUrl(text: string, allowHttp: boolean): Result<URL, UrlRefusal> {
  if (text.length > MAX_URL_CHARS) return refused("malformed", TOO_LONG);
  const scheme = /^[a-z][a-z0-9+.-]*(?=:)/i.exec(text)?.[0].toLowerCase();
  if (scheme !== undefined && scheme !== "https" && !(scheme === "http" && allowHttp)) {
    return refused("scheme", allowHttp ? "must use https or http" : "must use https");
  }
  // A URL must look like what is called.
  if (hasUnprintable(text)) {
    return refused("malformed", "must not contain control characters or invisible ones");
  }
  // URL parsers repair these in different ways, and the stored text must have only one meaning.
  if (/[\s\\]/.test(text) || !/^https?:\/\/[^/?#]/i.test(text)) {
    return refused("malformed", "must be an absolute https URL");
  }
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return refused("credentials", "must not contain credentials");
  const url = URL.parse(text);
  if (url === null) return refused("malformed", "must be an absolute https URL");
  if (url.port === "0") return refused("port", "must not use port 0");
  if (url.hostname.endsWith(".")) url.hostname = url.hostname.slice(0, -1);
  if (!url.hostname.startsWith("[") && !isName(url.hostname)) {
    return refused("malformed", "must have a host name or an IP address");
  }
  // Names and paths get longer when they are encoded in ASCII.
  return url.href.length > MAX_URL_CHARS ? refused("malformed", TOO_LONG) : ok(url);
}

function isName(host: string): boolean {
  return host.length <= MAX_NAME_CHARS && host.split(".").every((label) => NAME_LABEL.test(label));
}

async function resolveInTime(
  resolve: Resolve,
  name: string,
  requester: string | undefined,
  timeoutMs: number,
): Promise<readonly string[]> {
  const late = Promise.withResolvers<readonly string[]>();
  const ended = new AbortController();
  const timer = setTimeout(() => {
    late.resolve([]);
    ended.abort();
  }, timeoutMs);
  try {
    return await Promise.race([resolve(name, { requester, signal: ended.signal }), late.promise]);
  } catch {
    return [];
  } finally {
    clearTimeout(timer);
  }
}

/** Reading this machine's addresses takes many system calls. */
function atMostOnceASecond(read: () => readonly string[]): () => readonly string[] {
  let readAtMs = Number.NEGATIVE_INFINITY;
  let recent: readonly string[] = [];
  return () => {
    const nowMs = performance.now();
    if (nowMs - readAtMs > OWN_ADDRESSES_MAX_AGE_MS) {
      recent = read();
      readAtMs = nowMs;
    }
    return recent;
  };
}

/** Returns this machine's addresses: services on its public address may be meant only for itself. */
export function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((entries) =>
    (entries ?? []).map((entry) => entry.address),
  );
}

/** A path of this process on a loopback port that its own calls may reach, such as the receivers of the demo network. */
export interface LoopbackTarget {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string;
  /** Begins and ends with a slash. A target has exactly one segment after it. */
  readonly pathPrefix: string;
}

/** The host of every loopback target. */
export const LOOPBACK_HOST = "127.0.0.1";
const SEGMENT = /^[A-Za-z0-9-]{1,64}$/;

/**
 * Returns the URL if it is one of the targets, without a DNS lookup. The text must be in canonical form, so that no two parsers read it
 * differently, without a query or anything that could lead to another path of the origin.
 */
export function findLoopbackTarget(text: string, targets: readonly LoopbackTarget[]): URL | undefined {
  for (const { origin, pathPrefix } of targets) {
    if (!text.startsWith(origin + pathPrefix)) continue;
    if (!SEGMENT.test(text.slice(origin.length + pathPrefix.length))) continue;
    const url = URL.parse(text);
    if (url?.href === text && url.origin === origin && url.hostname === LOOPBACK_HOST) return url;
  }
  return undefined;
}
