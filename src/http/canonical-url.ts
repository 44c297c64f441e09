const unreserved = /[A-Za-z0-9\-._~]/;

/** Writes percent-encoded letters that need no encoding plainly (RFC 3986, 6.2.2); the rest stays encoded. */
function withPlainLetters(path: string): string {
  return path.replaceAll(/%[0-9A-Fa-f]{2}/g, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return unreserved.test(character) ? character : encoded.toUpperCase();
  });
}

/** Elysia takes what follows the eleventh character of a URL for the path, which a short host name breaks. */
const minPathStart = 11;

export interface CanonicalUrl {
  /** What was given, where it was canonical already. */
  readonly url: string;
  readonly path: string;
  /** False where the path holds a `%` that encodes nothing, or bytes that are no UTF-8. */
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
 * The URL that the router sees: one spelling for all spellings of a path, in which slashes are not repeated. The host
 * is of no use to it and is replaced where it would mislead: Bun passes on a bare path when the `Host` header is not a
 * host.
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
  const canonical = wellFormed ? withPlainLetters(collapsed) : collapsed;
  const query = queryStart === -1 ? "" : url.slice(queryStart);
  return { url: `http://localhost${canonical}${query}`, path: canonical, wellFormed };
}
