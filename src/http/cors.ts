import type { ServiceNames } from "../config/names.ts";

/** Cross-origin rules: any origin without credentials by default, otherwise the listed origins. */
export type Cors = ReturnType<typeof createCors>;

/** One day; browsers apply their own maximum. */
const preflightMaxAgeSecs = 86_400;

const allowedMethods = "GET, POST, PUT, PATCH, DELETE";
const exposedHeaders = [
  ...["x-request-id", "etag", "retry-after", "ratelimit", "ratelimit-policy", "x-error-code", "x-partial"],
  ...["x-events-missing", "x-oldest-event-id", "x-head-event-id", "idempotent-replayed"],
];
/** The service's own headers, without their prefix. */
const exposedOwnHeaders = ["node", "write", "message"];

/** Headers, besides `x-api-key`, that clients of the hosted API send with every call. */
const compatHeaders = ["api_key", "x-sdk", "x-sdk-version", "x-neynar-experimental", "x-wallet-id"];

/** @param isCompat whether the compat dialect is served */
export function createCors(options: {
  /** Read for each request. */
  readonly origins: readonly string[];
  readonly names: ServiceNames;
  readonly isCompat: boolean;
}) {
  const { names, isCompat } = options;
  const prefix = names.headerPrefix.toLowerCase();
  const allowedHeaders = [
    ...["fid", "op", "signed-at", "nonce", "signature"].map((name) => prefix + name),
    "content-type",
    // The web sign-in relay expects the token of a channel in it.
    "authorization",
    "x-api-key",
    "x-request-id",
    "if-none-match",
    "prefer",
    "idempotency-key",
    "x-strict-from-id",
    ...(isCompat ? compatHeaders : []),
  ].join(", ");
  const isAnyOrigin = () => options.origins.includes("*");

  return {
    /** Changes if the origins in the settings change while the node runs. */
    get origins(): readonly string[] {
      return options.origins;
    },

    /** Returns the response to an OPTIONS request; it does not depend on the path. */
    preflight: (): Response =>
      new Response(null, {
        status: 204,
        headers: {
          "access-control-allow-methods": allowedMethods,
          "access-control-allow-headers": allowedHeaders,
          "access-control-max-age": String(preflightMaxAgeSecs),
          allow: `${allowedMethods}, HEAD, OPTIONS`,
        },
      }),

    /** Returns the headers of every response that allow scripts of other origins to read it. */
    get headers(): readonly (readonly [name: string, value: string])[] {
      return [
        [
          "access-control-expose-headers",
          [...exposedHeaders, ...exposedOwnHeaders.map((name) => prefix + name)].join(", "),
        ],
        ...(isAnyOrigin() ? [["access-control-allow-origin", "*"] as const] : [["vary", "origin"] as const]),
      ] as const;
    },

    /** Reports whether a request has no origin, because it is not from a browser, or an origin that may read responses. */
    allows(request: Request): boolean {
      const origin = request.headers.get("origin");
      return isAnyOrigin() || origin === null || options.origins.includes(origin);
    },

    /** Adds the header that depends on the request's origin. @param isForAll whether every origin may read the response. */
    allowOrigin(request: Request, headers: Headers, isForAll: boolean): void {
      if (isAnyOrigin()) return;
      if (isForAll) {
        headers.set("access-control-allow-origin", "*");
        return;
      }
      const origin = request.headers.get("origin");
      if (origin !== null && options.origins.includes(origin))
        headers.set("access-control-allow-origin", origin);
    },
  };
}

/** A body that contains a user's text must never be interpreted as a page or a script. */
const NOSNIFF = ["x-content-type-options", "nosniff"] as const;

/** Caches may store reads but must revalidate them at each use: data changes with every merged message. */
const REVALIDATE = "public, no-cache";
const MINUTES = "public, max-age=600";

/** The headers that are the same for every client. */
export type CommonHeaders = ReturnType<typeof createCommonHeaders>;

/** @param node the header that identifies the node, which is the same in all its responses. */
export function createCommonHeaders(cors: Cors, node: readonly [name: string, value: string]) {
  const unshared = [NOSNIFF, node] as const;
  const make = () => {
    const shared = [...cors.headers, ...unshared];
    const json = (
      cacheControl: string,
      others: Readonly<Record<string, string>> = { vary: "accept-encoding" },
    ) => {
      const headers = new Headers({
        "content-type": "application/json",
        "cache-control": cacheControl,
        ...others,
      });
      for (const [name, value] of shared) headers.append(name, value);
      return headers;
    };
    return {
      origins: cors.origins,
      shared,
      ofReads: json(REVALIDATE),
      ofMinutes: json(MINUTES),
      unstored: json("no-store", {}),
    };
  };
  let made = make();
  const now = () => {
    if (made.origins !== cors.origins) made = make();
    return made;
  };
  return {
    /**
     * Returns the headers of all responses to reads: everything but the ETag, the request id and the headers that depend on the origin.
     * They are built when the origins change, because setting headers one by one costs a microsecond.
     */
    get ofReads(): Headers {
      return now().ofReads;
    },
    /** Like `ofReads`, for responses that caches may use for ten minutes. */
    get ofMinutes(): Headers {
      return now().ofMinutes;
    },
    /** Returns the headers of JSON that must not be cached. */
    get unstored(): Headers {
      return now().unstored;
    },
    /** Adds the headers of every response to a response that was not created with `ofReads`. */
    addTo(headers: Headers): void {
      if (headers.has(NOSNIFF[0])) return;
      for (const [name, value] of now().shared) headers.append(name, value);
    },
    /** Adds the headers that prevent scripts of other origins from reading the response. */
    addUnshared(headers: Headers): void {
      for (const [name, value] of unshared) headers.set(name, value);
    },
  };
}
