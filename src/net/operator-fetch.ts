import { reasonOf } from "../lib/failure.ts";
import { programName } from "../version.ts";

/** A `fetch` that is restricted to one origin. */
export type OperatorFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * Creates a `fetch` for an endpoint from the operator's settings. The endpoint may be on this machine or in a private network, so its
 * address is not checked. The function calls only that origin, without proxies or redirects, so that a compromised endpoint cannot direct
 * this process elsewhere.
 *
 * @param endpoint an http or https URL.
 * @throws (the returned function) for any other origin, and for a redirect.
 */
export function createOperatorFetch(endpoint: string): OperatorFetch {
  const { origin } = new URL(endpoint);
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== origin) throw new TypeError("only the endpoint of the settings may be called");
    return fetch(input, { ...init, redirect: "error", proxy: false, tls: STRICT_TLS });
  };
}

/** Explains why a call to a node got no response, as a sentence. */
export function noResponseReason(url: URL, cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const at = `${url.origin}${url.pathname === "/" ? "" : url.pathname}`;
  switch (code) {
    case "ECONNREFUSED":
    case "ConnectionRefused":
      return `no node listens at ${url.origin}: start one with \`${programName} serve\`, or name the URL of another`;
    case "ENOTFOUND":
      return `the name ${url.hostname} is not known to DNS`;
    case "ECONNRESET":
      return `${at} closed the connection without a response`;
    case "Malformed_HTTP_Response":
      return `what listens at ${url.origin} does not speak HTTP`;
    default:
      if (cause instanceof Error && cause.name === "TimeoutError") return `${at} did not respond in time`;
      return `${at} did not respond: ${reasonOf(cause)}`;
  }
}

/** Options of every outgoing TLS connection: certificates are verified regardless of NODE_TLS_REJECT_UNAUTHORIZED. */
export const STRICT_TLS = { rejectUnauthorized: true } as const;
