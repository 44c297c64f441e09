import { ANONYMOUS, invalidKey } from "./caller.ts";
import type { Exchange } from "./exchange.ts";
import type { RouteTerms } from "./route-terms.ts";

/** Decides at the edge who may call a route. */
export interface Gate {
  /**
   * Sets the caller of an exchange. Returns no promise if no store has to be asked, for example for a cached key.
   *
   * @throws ApiError `unauthorized`, `forbidden`, `tooManyRequests` or `unavailable`
   */
  admit(exchange: Exchange, terms: RouteTerms): void | Promise<void>;
  /** Counts a response to a request with an API key. */
  recordUse(exchange: Exchange, status: number): void;
}

/** A gate for an interface without API keys. */
export const keylessGate: Gate = {
  admit(exchange, { access }) {
    if (access.kind === "key") throw invalidKey();
    exchange.caller = ANONYMOUS;
  },
  recordUse: () => undefined,
};
