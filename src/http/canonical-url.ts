const unreserved = /[A-Za-z0-9\-._~]/;

/**
 * One spelling for all spellings of a path: repeated slashes collapse, and percent-encoded letters that need no
 * encoding are written plainly (RFC 3986, 6.2.2). What is encoded for a reason, or badly, stays as it is.
 */
function canonicalPath(path: string): string {
  const collapsed = path.replaceAll(/\/{2,}/g, "/");
  if (!collapsed.includes("%")) return collapsed;
  return collapsed.replaceAll(/%[0-9A-Fa-f]{2}/g, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return unreserved.test(character) ? character : encoded.toUpperCase();
  });
}

/** Elysia takes what follows the eleventh character of a URL for the path, which a short host name breaks. */
const minPathStart = 11;

export interface CanonicalUrl {
  /** The same string object that was given, where it was canonical already. */
  readonly url: string;
  readonly path: string;
}

/**
 * The URL that the router sees. The host is of no use to it and is replaced where it would mislead: Bun passes on a
 * bare path when the `Host` header is not a host.
 */
export function canonicalUrl(url: string): CanonicalUrl {
  const pathStart = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
  const queryStart = url.indexOf("?", pathStart);
  const path = queryStart === -1 ? url.slice(pathStart) : url.slice(pathStart, queryStart);
  if (pathStart >= minPathStart && !path.includes("//") && !path.includes("%")) return { url, path };
  const canonical = canonicalPath(path);
  return { url: `http://localhost${canonical}${queryStart === -1 ? "" : url.slice(queryStart)}`, path: canonical };
}
