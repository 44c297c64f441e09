/** The URL parser would strip trailing control characters. */
const DOMAIN = /^([^\s\p{Cc}/?#@:\\[\]]+|\[[0-9a-fA-F:.]+\])(:\d{1,5})?$/u;
const MAX_DOMAIN_CHARS = 255;

/**
 * Returns a domain as browsers write it: a lowercase ASCII host, with its port if there is one. Undefined for any other text, including a
 * trailing dot, which would be another spelling of the same host.
 */
export function normalizeDomain(text: string): string | undefined {
  if (text.length > MAX_DOMAIN_CHARS) return undefined;
  const [, host = "", port = ""] = DOMAIN.exec(text) ?? [];
  const hostname = host === "" ? undefined : URL.parse(`http://${host}`)?.hostname;
  return hostname === undefined || hostname === "" || hostname.endsWith(".") ? undefined : hostname + port;
}

/**
 * Reports whether a list contains a domain, either itself or through an entry such as `*.example`. An empty list contains every domain.
 */
export function isListed(domain: string, list: readonly string[]): boolean {
  if (list.length === 0) return true;
  // A trailing dot names the same host.
  const host = domain.replace(/\.+(?=$|:)/, "");
  return list.some((entry) => (entry.startsWith("*.") ? host.endsWith(entry.slice(1)) : entry === host));
}

const MAX_CHARS = 2048;
/** Schemes that run code, read files, send without TLS, or open a part of the system or the browser instead of an app. */
const REFUSED = new Set([
  ...["about:", "blob:", "chrome:", "data:", "edge:", "feed:", "file:", "filesystem:", "ftp:", "http:"],
  ...["intent:", "jar:", "javascript:", "mailto:", "resource:", "search:", "shell:", "sms:", "tel:"],
  ...["vbscript:", "view-source:", "ws:", "wss:"],
]);
/** Windows opens system components by these schemes, some with commands in the URL. */
const SYSTEM_SCHEME = /^(?:ms-|search-ms:|.*-extension:)/;

/** Reports whether a text is a URL that a user may be redirected to: https, or the scheme of an app. The node itself never calls it. */
export function isRedirectUrl(text: string): boolean {
  if (text.length > MAX_CHARS || /[\s\p{Cc}]/u.test(text)) return false;
  const url = URL.parse(text);
  return (
    url !== null &&
    url.username === "" &&
    url.password === "" &&
    !REFUSED.has(url.protocol) &&
    !SYSTEM_SCHEME.test(url.protocol)
  );
}
