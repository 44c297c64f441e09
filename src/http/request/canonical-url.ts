const unreserved = /[A-Za-z0-9\-._~]/;

/** Decodes percent-encoded unreserved characters (RFC 3986, 6.2.2); all others stay encoded. */
function decodeUnreserved(path: string): string {
  return path.replaceAll(/%[0-9A-Fa-f]{2}/g, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return unreserved.test(character) ? character : encoded.toUpperCase();
  });
}

/** Elysia searches for the path from the eleventh character of a URL on, which fails for a short host name. */
const minPathStart = 11;

export interface CanonicalUrl {
  /** The original URL if it was already canonical. */
  readonly url: string;
  readonly path: string;
  /** False if the path contains an invalid percent-encoding or bytes that are not UTF-8. */
  readonly wellFormed: boolean;
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the URL that the router receives. All spellings of a path map to one, without repeated slashes. The router
 * does not use the host, so an invalid or short one is replaced: Bun passes a bare path when the `Host` header is not
 * a host.
 */
export function canonicalUrl(url: string): CanonicalUrl {
  const pathStart = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
  const queryStart = url.indexOf("?", pathStart);
  const path = queryStart === -1 ? url.slice(pathStart) : url.slice(pathStart, queryStart);
  if (pathStart >= minPathStart && !path.includes("//") && !path.includes("%")) {
    return { url, path, wellFormed: true };
  }
  const collapsed = path.replaceAll(/\/{2,}/g, "/");
  const wellFormed = isDecodable(collapsed);
  const canonical = wellFormed ? decodeUnreserved(collapsed) : collapsed;
  const query = queryStart === -1 ? "" : url.slice(queryStart);
  return { url: `http://localhost${canonical}${query}`, path: canonical, wellFormed };
}
