import type { Cors } from "./cors.ts";

/** A body that contains a user's text must never be interpreted as a page or a script. */
const NOSNIFF = ["x-content-type-options", "nosniff"] as const;

/** Caches may store reads but must revalidate them at each use: data changes with every merged message. */
const REVALIDATE = "public, no-cache";

/** The headers that are the same for every client. */
export interface CommonHeaders {
  /**
   * The headers of all responses to reads: everything but the ETag, the request id and the headers that depend on the
   * origin. They are built once, because setting headers one by one costs a microsecond.
   */
  readonly ofReads: Headers;
  /** Adds the headers of every response to those of a response that was not made with `ofReads`. */
  readonly addTo: (headers: Headers) => void;
  /** Adds those that do not let scripts of other origins read the response. */
  readonly addUnshared: (headers: Headers) => void;
}

/** @param node the header that names the node, which is the same in all its responses. */
export function createCommonHeaders(cors: Cors, node: readonly [name: string, value: string]): CommonHeaders {
  const addTo = (headers: Headers) => {
    if (headers.has(NOSNIFF[0])) return;
    for (const [name, value] of [...cors.headers, NOSNIFF, node]) headers.append(name, value);
  };
  const addUnshared = (headers: Headers) => {
    for (const [name, value] of [NOSNIFF, node]) headers.set(name, value);
  };
  const ofReads = new Headers({
    "content-type": "application/json",
    "cache-control": REVALIDATE,
    vary: "accept-encoding",
  });
  addTo(ofReads);
  return { ofReads, addTo, addUnshared };
}
