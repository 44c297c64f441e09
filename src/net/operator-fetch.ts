import { STRICT_TLS } from "./strict-tls.ts";

/** As `fetch`, for one origin. */
export type OperatorFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * `fetch` for an endpoint that the operator names in the settings, which may well be on this machine or in a private
 * network: its address is not judged. It still reaches that one origin only, straight and without redirects, so that an
 * endpoint that was taken over cannot send this process anywhere else.
 *
 * @param endpoint an http or https URL.
 * @throws (the function returned) for any other origin, and for a redirect.
 */
export function createOperatorFetch(endpoint: string): OperatorFetch {
  const { origin } = new URL(endpoint);
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== origin) throw new TypeError("only the endpoint of the settings may be called");
    return fetch(input, { ...init, redirect: "error", proxy: false, tls: STRICT_TLS });
  };
}
