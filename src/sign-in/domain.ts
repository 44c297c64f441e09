/** The URL parser would drop control characters at its end. */
const DOMAIN = /^([^\s\p{Cc}/?#@:\\[\]]+|\[[0-9a-fA-F:.]+\])(:\d{1,5})?$/u;
const MAX_DOMAIN_CHARS = 255;

/**
 * Returns a domain as browsers write it: a host in lower-case ASCII with its port, if it has one; undefined for any other text. A dot at
 * the end would be another spelling of the same host.
 */
export function normalizeDomain(text: string): string | undefined {
  if (text.length > MAX_DOMAIN_CHARS) return undefined;
  const [, host = "", port = ""] = DOMAIN.exec(text) ?? [];
  const hostname = host === "" ? undefined : URL.parse(`http://${host}`)?.hostname;
  return hostname === undefined || hostname === "" || hostname.endsWith(".") ? undefined : hostname + port;
}

/** Whether a list of domains has one, itself or by an entry such as `*.example`; an empty list has all. */
export function isListed(domain: string, list: readonly string[]): boolean {
  if (list.length === 0) return true;
  // A dot at the end names the same host.
  const host = domain.replace(/\.+(?=$|:)/, "");
  return list.some((entry) => (entry.startsWith("*.") ? host.endsWith(entry.slice(1)) : entry === host));
}
