const MAX_CHARS = 2048;
/** Parsers write every form of an IPv4 address so; those of IPv6 are in brackets. With a dot at its end a host has another name. */
const NO_NAME = /^(?:[\d.]+|\[.*\]|.*\.)$/;

/** A URL whose page may be looked at. */
export interface PreviewUrl {
  /** https on port 443, without a fragment. Previews are stored under it. */
  readonly href: string;
  readonly host: string;
}

/** Returns what is fetched for a URL of a cast, `http:` as `https:`; undefined for a URL that is never fetched. */
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
