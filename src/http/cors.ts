import type { ServiceNames } from "../config/names.ts";

/** Cross-origin rules: any origin without credentials by default, else the listed ones. */
export interface Cors {
  /** The answer to any OPTIONS request; it does not depend on the path. */
  preflight(): Response;
  /** What every answer carries, so that a browser lets its reader have it. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Adds what depends on where the request comes from. */
  allowOrigin(request: Request, headers: Headers): void;
}

/** A day; browsers cap it at what they think best. */
const preflightMaxAgeSecs = 86_400;

const allowedMethods = "GET, POST, PUT, PATCH, DELETE";
const exposedHeaders = "x-request-id, etag, retry-after";

/** What clients of the hosted API send with every call, beside `x-api-key`. */
const compatHeaders = [
  "authorization",
  "api_key",
  "x-sdk",
  "x-sdk-version",
  "x-neynar-experimental",
  "x-wallet-id",
];

/** @param isCompat whether clients of the hosted API are served too */
export function createCors(options: {
  readonly origins: readonly string[];
  readonly names: ServiceNames;
  readonly isCompat: boolean;
}): Cors {
  const { origins, names, isCompat } = options;
  const prefix = names.headerPrefix.toLowerCase();
  const allowedHeaders = [
    ...["fid", "op", "signed-at", "nonce", "signature"].map((name) => prefix + name),
    "content-type",
    "x-api-key",
    "x-request-id",
    "if-none-match",
    "prefer",
    ...(isCompat ? compatHeaders : []),
  ].join(", ");
  const anyOrigin = origins.includes("*");
  const listed = new Set(origins);

  return {
    preflight: () =>
      new Response(null, {
        status: 204,
        headers: {
          "access-control-allow-methods": allowedMethods,
          "access-control-allow-headers": allowedHeaders,
          "access-control-max-age": String(preflightMaxAgeSecs),
          allow: `${allowedMethods}, HEAD, OPTIONS`,
        },
      }),

    headers: [
      ["access-control-expose-headers", exposedHeaders],
      anyOrigin ? ["access-control-allow-origin", "*"] : ["vary", "origin"],
    ],

    allowOrigin(request, headers) {
      if (anyOrigin) return;
      const origin = request.headers.get("origin");
      if (origin !== null && listed.has(origin)) headers.set("access-control-allow-origin", origin);
    },
  };
}
