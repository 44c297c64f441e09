/** A path of this process on a loopback port that its own calls may reach, such as the receivers of the demo network. */
export interface OwnTarget {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string;
  /** Begins and ends with a slash. A target has exactly one segment behind it. */
  readonly pathPrefix: string;
}

/** The host of every own target. */
export const OWN_HOST = "127.0.0.1";
const SEGMENT = /^[A-Za-z0-9-]{1,64}$/;

/**
 * Returns the URL if it is one of the targets. No name is looked up. The text must be the canonical one, so that no two parsers
 * read it differently; it has no query, and nothing that could lead to another path of the origin.
 */
export function findOwnTarget(text: string, targets: readonly OwnTarget[]): URL | undefined {
  for (const { origin, pathPrefix } of targets) {
    if (!text.startsWith(origin + pathPrefix)) continue;
    if (!SEGMENT.test(text.slice(origin.length + pathPrefix.length))) continue;
    const url = URL.parse(text);
    if (url?.href === text && url.origin === origin && url.hostname === OWN_HOST) return url;
  }
  return undefined;
}
