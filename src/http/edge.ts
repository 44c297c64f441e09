import type { Logger } from "../process/logger.ts";
import { type CanonicalUrl, canonicalUrl } from "./canonical-url.ts";
import type { Cors } from "./cors.ts";
import { errorResponse } from "./error-response.ts";
import { ApiError, logLevelOf } from "./errors.ts";
import { type Exchange, openExchange } from "./exchange.ts";
import type { ObserveAnswer } from "./http-metrics.ts";
import type { RoutePolicy } from "./policy.ts";

type MaybePromise<T> = T | Promise<T>;

export interface EdgeOptions {
  /** The router. Whatever it throws becomes an error answer. */
  readonly route: (request: Request) => MaybePromise<Response>;
  readonly policyOf: (path: string) => RoutePolicy;
  readonly cors: Cors;
  readonly observe: ObserveAnswer;
  readonly log: Logger;
  /** True from the moment that the server stops accepting. */
  readonly isStopping: () => boolean;
}

/** An id that a client may choose: safe in a log line and in a header. */
const clientRequestId = /^[\w=-]{1,128}$/;

/**
 * What every request passes first and every answer last, whoever made the answer: request id, canonical path,
 * preflight, CORS headers, metrics, access log. The router's own hooks shape the body in between.
 */
export function createEdge(options: EdgeOptions): (request: Request) => MaybePromise<Response> {
  const { route, policyOf, cors, observe, log, isStopping } = options;

  function open(request: Request, { url, path }: CanonicalUrl): Exchange {
    const given = request.headers.get("x-request-id");
    // The router and every hook after it read the URL from the request, so the request itself carries the new one.
    if (url !== request.url) Object.defineProperty(request, "url", { value: url });
    const exchange: Exchange = {
      request,
      requestId: given !== null && clientRequestId.test(given) ? given : Bun.randomUUIDv7(),
      method: request.method,
      path,
      policy: policyOf(path),
      startedAtMs: performance.now(),
      route: undefined,
    };
    openExchange(request, exchange);
    return exchange;
  }

  function close(request: Request, exchange: Exchange, response: Response): Response {
    const { headers, status } = response;
    headers.set("x-request-id", exchange.requestId);
    cors.apply(request, headers);
    if (isStopping()) headers.set("connection", "close");

    const durationMs = performance.now() - exchange.startedAtMs;
    const template = exchange.route ?? "unmatched";
    observe(exchange.method, template, status, durationMs / 1000);
    const level = logLevelOf(status);
    if (log.isLevelEnabled(level)) {
      const { method, requestId } = exchange;
      log[level]({ method, route: template, status, durationMs, requestId }, "Answered a request");
    }
    return response;
  }

  return (request) => {
    const target = canonicalUrl(request.url);
    const exchange = open(request, target);
    const fail = (error: unknown) => close(request, exchange, errorResponse({ exchange, error, log }));
    if (request.method === "OPTIONS") return close(request, exchange, cors.preflight());
    if (!target.wellFormed) {
      return fail(new ApiError("badRequest", "path is not valid percent-encoded UTF-8"));
    }
    try {
      const answer = route(request);
      if (answer instanceof Response) return close(request, exchange, answer);
      return answer.then((response) => close(request, exchange, response), fail);
    } catch (error) {
      return fail(error);
    }
  };
}
