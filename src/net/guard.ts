import { networkInterfaces } from "node:os";
import { hasUnprintable } from "../lib/printable.ts";
import { type Address, classify, parseAddress } from "./address-class.ts";
import { createAllowList } from "./allow-list.ts";
import { createBoundedResolve } from "./bounded-resolve.ts";
import type { Resolve } from "./resolve.ts";

export const MAX_URL_CHARS = 2048;
const MAX_ADDRESSES = 16;
const DNS_TIMEOUT_MS = 3_000;
const MAX_NAME_CHARS = 253;
const TOO_LONG = `must be at most ${MAX_URL_CHARS} characters long`;
// Underscores are no host name by the letter of RFC 952, but are in use.
const NAME_LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

export interface CheckedAddress {
  /** As text without brackets. */
  readonly address: string;
  readonly family: 4 | 6;
}

/** A URL that may be stored, and called at `address` and nowhere else. */
export interface CheckedUrl extends CheckedAddress {
  /** As parsed; a dot at the end of the host is taken off. */
  readonly url: URL;
  /** Every address that may be called, `address` first; all of them passed. */
  readonly addresses: readonly CheckedAddress[];
}

export type UrlRefusalKind = "malformed" | "scheme" | "credentials" | "port" | "dns" | "address";

/** Why a URL is refused. */
export class UrlRefusal {
  constructor(
    readonly kind: UrlRefusalKind,
    /**
     * For the one who gave the URL, as in "must use https"; to be put behind the name of the field. It is the same for
     * a name that does not exist and one that is internal, so that nobody can list internal names with it.
     */
    readonly reason: string,
  ) {}
}

export interface UrlGuard {
  /**
   * Judges a URL as of now. It never throws: a name that cannot be resolved is a refusal.
   *
   * @param requester whose look-ups of names are bounded together with this one, such as `fid:3`.
   */
  check(url: string, requester?: string): Promise<CheckedUrl | UrlRefusal>;
}

export interface UrlGuardOptions {
  /** Networks that may be reached although they are not public (`net.allow_cidrs`). */
  readonly allowCidrs: readonly string[];
  /** Whether plain http passes (`net.allow_http`). */
  readonly allowHttp: boolean;
  /** The machine's own resolver when left out, with bounds on its look-ups. */
  readonly resolve?: Resolve;
  readonly dnsTimeoutMs?: number;
  /** Addresses of this machine, written as RFC 5952 has them; its network interfaces' when left out. */
  readonly ownAddresses?: () => readonly string[];
}

/**
 * The one judgement about URLs that someone else gives: at registration, and again at every call.
 *
 * Only https (or http, where the operator allows it) without credentials, to a host all of whose addresses are public.
 * Every port but 0 passes: receivers live on all of them, and behind TLS no other protocol can be spoken to by what we
 * send.
 *
 * @throws when one of `allowCidrs` is no network; the settings have been checked for that.
 */
export function createUrlGuard(options: UrlGuardOptions): UrlGuard {
  const resolve = options.resolve ?? createBoundedResolve();
  const dnsTimeoutMs = options.dnsTimeoutMs ?? DNS_TIMEOUT_MS;
  const ownAddresses = options.ownAddresses ?? interfaceAddresses;
  const allows = createAllowList(options.allowCidrs);

  function mayReach(address: Address): boolean {
    const addressClass = classify(address);
    if (allows(address, addressClass)) return true;
    return addressClass === "public" && !ownAddresses().includes(address.toString());
  }

  return {
    async check(text, requester) {
      const url = parseUrl(text, options.allowHttp);
      if (url instanceof UrlRefusal) return url;
      const host = url.hostname.replace(/^\[|\]$/g, "");
      const literal = parseAddress(host);
      if (literal) {
        return mayReach(literal)
          ? checkedUrl(url, literal, [])
          : new UrlRefusal("address", "must not point to an address that is not public");
      }
      const answers = await resolveInTime(resolve, host, requester, dnsTimeoutMs);
      const addresses: Address[] = [];
      for (const answer of answers.slice(0, MAX_ADDRESSES)) {
        const address = parseAddress(answer);
        // One internal address spoils the name: a host with both kinds is misconfigured, or up to something.
        if (!address || !mayReach(address)) return unreachableName("address");
        addresses.push(address);
      }
      const [first, ...others] = addresses;
      return first ? checkedUrl(url, first, others) : unreachableName("dns");
    },
  };
}

function checkedUrl(url: URL, first: Address, others: readonly Address[]): CheckedUrl {
  const head = checkedAddress(first);
  return { url, ...head, addresses: [head, ...others.map(checkedAddress)] };
}

function checkedAddress(address: Address): CheckedAddress {
  return { address: address.toString(), family: address.kind() === "ipv4" ? 4 : 6 };
}

function unreachableName(kind: "dns" | "address"): UrlRefusal {
  return new UrlRefusal(kind, "must have a host that resolves to public addresses only");
}

function parseUrl(text: string, allowHttp: boolean): URL | UrlRefusal {
  if (text.length > MAX_URL_CHARS) return new UrlRefusal("malformed", TOO_LONG);
  const scheme = /^[a-z][a-z0-9+.-]*(?=:)/i.exec(text)?.[0].toLowerCase();
  if (scheme !== undefined && scheme !== "https" && !(scheme === "http" && allowHttp)) {
    return new UrlRefusal("scheme", allowHttp ? "must use https or http" : "must use https");
  }
  // Who reads the URL shall read what is called.
  if (hasUnprintable(text)) {
    return new UrlRefusal("malformed", "must not contain control characters or invisible ones");
  }
  // URL parsers mend all of these, each in its own way; the text that is stored shall mean one thing to everybody.
  if (/[\s\\]/.test(text) || !/^https?:\/\/[^/?#]/i.test(text)) {
    return new UrlRefusal("malformed", "must be an absolute https URL");
  }
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return new UrlRefusal("credentials", "must not contain credentials");
  const url = URL.parse(text);
  if (url === null) return new UrlRefusal("malformed", "must be an absolute https URL");
  if (url.port === "0") return new UrlRefusal("port", "must not use port 0");
  if (url.hostname.endsWith(".")) url.hostname = url.hostname.slice(0, -1);
  if (!url.hostname.startsWith("[") && !isName(url.hostname)) {
    return new UrlRefusal("malformed", "must have a host name or an IP address");
  }
  // Names and paths grow when they are written in ASCII.
  return url.href.length > MAX_URL_CHARS ? new UrlRefusal("malformed", TOO_LONG) : url;
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

/** What listens on this machine's public address may be meant for this machine only. */
export function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((entries) =>
    (entries ?? []).map((entry) => entry.address),
  );
}
