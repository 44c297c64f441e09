import type { Logger } from "../runtime/logger.ts";
import { type CanonicalUrl, canonicalUrl } from "./canonical-url.ts";
import type { Cors } from "./cors.ts";
import { errorResponse } from "./error-response.ts";
import { ApiError, logLevelOf } from "./errors.ts";
import { type Exchange, openExchange } from "./exchange.ts";
import type { ObserveResponse } from "./http-metrics.ts";
import type { RoutePolicy } from "./policy.ts";
import { readHeaders, respondToRead } from "./representation.ts";
import type { BodySender } from "./response-body.ts";
import { type CachedResponse, NOT_CACHED, type ResponseCache } from "./response-cache.ts";

type MaybePromise<T> = T | Promise<T>;

export interface PipelineOptions {
  /** The router. Whatever it throws becomes an error answer. */
  readonly route: (request: Request) => MaybePromise<Response>;
  readonly policyOf: (path: string) => RoutePolicy;
  readonly cors: Cors;
  /** Responses of routes that declare it; all are made anew where it is left out. */
  readonly cache: ResponseCache | undefined;
  readonly sender: BodySender;
  readonly observe: ObserveResponse;
  readonly log: Logger;
  /** True from the moment that the server stops accepting. */
  readonly isStopping: () => boolean;
}

/** An id that a client may choose: safe in a log line and in a header. */
const clientRequestId = /^[\w=-]{1,128}$/;

/**
 * What every request passes first and every answer last, whoever made the answer: request id, canonical path,
 * preflight, CORS headers, metrics, access log. The router's own hooks shape the body in between; it is not asked where
 * the answer is known from the last time.
 */
export function createPipeline(options: PipelineOptions): (request: Request) => MaybePromise<Response> {
  const { route, policyOf, cors, cache, sender, observe, log, isStopping } = options;

  function open(request: Request, { path }: CanonicalUrl): Exchange {
    const given = request.headers.get("x-request-id");
    return {
      request,
      requestId: given !== null && clientRequestId.test(given) ? given : Bun.randomUUIDv7(),
      method: request.method,
      path,
      policy: policyOf(path),
      startedAtMs: performance.now(),
      route: undefined,
      cacheable: undefined,
    };
  }

  function close(exchange: Exchange, response: Response): Response {
    const { request, method, requestId } = exchange;
    const { headers, status } = response;
    headers.set("x-request-id", requestId);
    cors.allowOrigin(request, headers);
    if (isStopping()) headers.set("connection", "close");

    const durationMs = performance.now() - exchange.startedAtMs;
    const template = exchange.route ?? "unmatched";
    observe(method, template, status, durationMs / 1000);
    const level = logLevelOf(status);
    if (log.isLevelEnabled(level)) {
      log[level]({ method, route: template, status, durationMs, requestId }, "Answered a request");
    }
    return response;
  }

  /** Adds what every response carries, whoever requests it. */
  function addCommonHeaders(headers: Headers): void {
    for (const [name, value] of cors.headers) headers.append(name, value);
    // A body that holds a user's text must never be taken for a page or a script.
    headers.set("x-content-type-options", "nosniff");
  }

  function closeNew(exchange: Exchange, response: Response): Response {
    addCommonHeaders(response.headers);
    return close(exchange, response);
  }

  function closeCached(exchange: Exchange, responses: ResponseCache, cached: CachedResponse): Response {
    exchange.route = cached.route;
    const send = () => respondToRead(exchange.request, cached, cached.headers, sender);
    return close(exchange, responses.use(cached, send));
  }

  function store(url: string, { cacheable, route = "" }: Exchange, generation: number): void {
    if (cacheable === undefined || generation === NOT_CACHED) return;
    const headers = new Headers(readHeaders(cacheable.etag));
    addCommonHeaders(headers);
    cache?.store(url, { ...cacheable, headers, route }, generation);
  }

  return (request) => {
    const target = canonicalUrl(request.url);
    const exchange = open(request, target);
    const mayBeCached = cache !== undefined && exchange.method === "GET" && exchange.policy.isApi;
    const cached = mayBeCached ? cache.lookUp(target.url) : NOT_CACHED;
    const fail = (error: unknown) => closeNew(exchange, errorResponse({ exchange, error, log }));
    if (cache !== undefined && typeof cached !== "number") {
      try {
        return closeCached(exchange, cache, cached);
      } catch (error) {
        return fail(error);
      }
    }
    if (exchange.method === "OPTIONS") return closeNew(exchange, cors.preflight());
    if (!target.wellFormed) {
      return fail(new ApiError("badRequest", "path is not valid percent-encoded UTF-8"));
    }
    // The router and every hook after it read the URL from the request, so the request itself carries the new one.
    if (target.url !== request.url) Object.defineProperty(request, "url", { value: target.url });
    openExchange(request, exchange);
    const finish = (response: Response) => {
      if (typeof cached === "number") store(target.url, exchange, cached);
      return closeNew(exchange, response);
    };
    try {
      const answer = route(request);
      return answer instanceof Response ? finish(answer) : answer.then(finish, fail);
    } catch (error) {
      return fail(error);
    }
  };
}
