const MAX_CHARS = 2048;
/**
 * The URL parser writes every form of an IPv4 address like this, and IPv6 addresses in brackets. With a trailing dot, a host would have
 * another name.
 */
const NO_NAME = /^(?:[\d.]+|\[.*\]|.*\.)$/;

/** A URL whose page may be fetched. */
export interface PreviewUrl {
  /** An https URL on port 443, without a fragment. Previews are stored under it. */
  readonly href: string;
  readonly host: string;
}

/** Returns the URL to fetch for a URL in a cast, with `http:` replaced by `https:`; undefined for a URL that is never fetched. */
export function previewUrlOf(text: string): PreviewUrl | undefined {
  if (text.length > MAX_CHARS) return undefined;
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return undefined;
  // The default port of the scheme is empty.
  if (url.port !== "" || url.username !== "" || url.password !== "") return undefined;
  const { hostname } = url;
  if (NO_NAME.test(hostname) || !hostname.includes(".")) return undefined;
  url.protocol = "https:";
  url.hash = "";
  return url.href.length > MAX_CHARS ? undefined : { href: url.href, host: url.hostname };
}
