import type { Hold, Shortage } from "../admission/budget.ts";
import { WAITING_REQUESTS } from "../admission/budgets.ts";
import type { ClientAddress } from "../admission/client-address.ts";
import { FairOrder } from "../admission/fair-order.ts";
import type { Logger } from "../runtime/log/logger.ts";
import type { CommonHeaders } from "./cors.ts";
import { ApiError, errorKinds, logLevelOf } from "./errors.ts";
import { type Exchange, keepExchange, type Settlement } from "./exchange.ts";
import type { Gate } from "./gate.ts";
import { isApiPath, methodLabel, type ObserveResponse } from "./metrics/http-metrics.ts";
import type { NotableRequests } from "./metrics/notable-requests.ts";
import { type Connection, type ExchangeParts, openExchange } from "./open-exchange.ts";
import { declaredBytes, isChunked, mayHaveLargeBody, placeOfChunked } from "./request/body.ts";
import { type CanonicalUrl, canonicalUrl } from "./request/canonical-url.ts";
import type { TaggedBody } from "./response/content-coding.ts";
import { errorResponse, noRoom } from "./response/error-response.ts";
import { respondToRead } from "./response/representation.ts";
import { type BodySender, respondsLater } from "./response/response-body.ts";
import { type CachedResponse, NOT_CACHED, type ResponseCache } from "./response/response-cache.ts";
import { isOwnResponse, type TermsOf } from "./route-terms.ts";

type MaybePromise<T> = T | Promise<T>;

export interface PipelineOptions extends ExchangeParts {
  /** The router. Any error that it throws becomes an error response. */
  readonly route: (request: Request) => MaybePromise<Response>;
  readonly termsOf: TermsOf;
  /** Returns the methods of a path without the given method, if that is a 405. */
  readonly otherMethods: (method: string, path: string) => string | undefined;
  readonly gate: Gate;
  readonly commonHeaders: CommonHeaders;
  /** Cache for responses of routes that declare it; without it no response is cached. */
  readonly cache: ResponseCache | undefined;
  readonly sender: BodySender;
  /** Delays refusals beyond a client's share. */
  readonly refuseLate: (exchange: Exchange, response: Response) => MaybePromise<Response>;
  readonly observe: ObserveResponse;
  /** Receives notable responses of the API, which show how it performs. */
  readonly notable: Pick<NotableRequests, "isNotable" | "note">;
  readonly log: Logger;
  /** Returns why the API cannot respond at the moment, as text for clients; undefined if it can. */
  readonly unavailableReason: () => string | undefined;
  /** True as soon as the server drains or stops. */
  readonly closesConnections: () => boolean;
}

/** The route that load balancers poll every few seconds, even while a node fills its index for hours. */
const READINESS = "/ready";

/** How much of an unread body Bun buffers. */
const BUFFERED_BODY_BYTES = 1280 * 1024;

function threadCpuUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

const monotonicUs = (): number => performance.now() * 1000;

/** Reports whether a body is left unread. Bun would read the rest before the next request, however large it is. */
function leavesBody({ bodyState, request }: Exchange): boolean {
  return bodyState === "refused" || (bodyState === "unread" && mayHaveLargeBody(request));
}

/**
 * Creates the function that handles every request. It wraps the router and adds what all responses share: request id, canonical path,
 * preflight, CORS headers, metrics, access log. The router's own hooks build the body. If the response is cached, or its route has it
 * ready, the router is not called.
 */
export function createPipeline(
  options: PipelineOptions,
): (request: Request, connection?: Connection) => MaybePromise<Response> {
  const {
    route,
    termsOf,
    otherMethods,
    gate,
    cors,
    clients,
    commonHeaders,
    cache,
    sender,
    bodies,
    refuseLate,
    observe,
    notable,
    log,
    closesConnections,
    unavailableReason,
  } = options;

  function complete(exchange: Exchange, response: Response, isCached = false): Response {
    const { request, method, requestId, span } = exchange;
    const { headers, status } = response;
    exchange.bodyHold?.end();
    exchange.settlement?.settle(exchange);
    headers.set("x-request-id", requestId);
    if (exchange.policy.isShared) cors.allowOrigin(request, headers, exchange.policy.isForAllOrigins);
    if (exchange.limitHeaders !== undefined) {
      headers.set("ratelimit-policy", exchange.limitHeaders.policy);
      headers.set("ratelimit", exchange.limitHeaders.state);
    }
    const isBodyLeft = leavesBody(exchange);
    exchange.isRefusal = isBodyLeft || status === errorKinds.tooManyRequests.status;
    if (isBodyLeft || closesConnections()) headers.set("connection", "close");

    const durationMs = performance.now() - exchange.startedAtMs;
    const template = exchange.route ?? "unmatched";
    observe(method, template, status, durationMs / 1000);
    span?.end({
      name: `${methodLabel(method)} ${template}`,
      attributes: {
        "http.route": exchange.route,
        "http.response.status_code": status,
        "svc.request_id": requestId,
        "svc.cached": isCached,
      },
      failure: status >= 500 ? `${status}` : undefined,
    });
    const ms = Math.round(durationMs * 1000) / 1000;
    if (isApiPath(template) && notable.isNotable(status, ms))
      notable.note({
        atMs: Date.now(),
        method,
        route: template,
        status,
        ms,
        requestId,
        keyPrefix: exchange.caller.kind === "apiKey" ? exchange.caller.prefix : null,
      });
    if (exchange.caller.kind === "apiKey") gate.recordUse(exchange, status);
    const level = template === READINESS ? "debug" : logLevelOf(status);
    if (log.isLevelEnabled(level)) {
      const key = exchange.caller.kind === "apiKey" ? { apiKeyPrefix: exchange.caller.prefix } : {};
      log[level]({ method, route: template, status, durationMs, requestId, ...key }, "Request handled");
    }
    return response;
  }

  function finish(exchange: Exchange, response: Response): Response {
    if (exchange.policy.isShared) commonHeaders.addTo(response.headers);
    else commonHeaders.addUnshared(response.headers);
    return complete(exchange, response);
  }

  function respondFromCache(exchange: Exchange, responses: ResponseCache, cached: CachedResponse): Response {
    exchange.route = cached.route;
    keepExchange(exchange.request, exchange);
    const send = () => respondToRead(exchange.request, cached, commonHeaders.ofReads, sender);
    return complete(exchange, responses.use(cached, send), true);
  }

  function respondReady(exchange: Exchange, ready: TaggedBody | Uint8Array): Response {
    const { request } = exchange;
    keepExchange(request, exchange);
    const response =
      ready instanceof Uint8Array
        ? sender.whole(request, ready, { headers: commonHeaders.unstored })
        : respondToRead(request, ready, commonHeaders.ofMinutes, sender);
    return complete(exchange, response);
  }

  function store(url: string, { cacheable, route = "" }: Exchange, generation: number): void {
    if (cacheable === undefined || generation === NOT_CACHED) return;
    cache?.store(url, { ...cacheable, route }, generation);
  }

  let starts = 0;

  /** Calls the router, and measures responses that are built before another request starts. */
  function measured(exchange: Exchange, settlement: Settlement): MaybePromise<Response> {
    starts += 1;
    const start = starts;
    exchange.isCpuMeasured = settlement.needsCpuTime(exchange);
    const nowUs = exchange.isCpuMeasured ? threadCpuUs : monotonicUs;
    const startedUs = nowUs();
    const measure = () => {
      exchange.cpuUs = nowUs() - startedUs;
    };
    const response = route(exchange.request);
    measure();
    if (response instanceof Response) return response;
    return response.finally(() => {
      if (starts === start) measure();
    });
  }

  /** Operators' paths never require a key. */
  function admit(exchange: Exchange): void | Promise<void> {
    if (!exchange.policy.isApi) return undefined;
    const terms = termsOf(exchange.method, exchange.path);
    exchange.route = terms.template;
    exchange.cache = terms.cache;
    exchange.ready = terms.ready;
    return gate.admit(exchange, terms);
  }

  /** Responds to a request that the gate has admitted. */
  function respond(exchange: Exchange, target: CanonicalUrl): MaybePromise<Response> {
    const { request } = exchange;
    const ready = exchange.method === "GET" ? exchange.ready?.(target.url) : undefined;
    if (ready !== undefined) return respondReady(exchange, ready);
    const isOwn = isOwnResponse(exchange.cache, exchange.caller);
    const mayBeCached = cache !== undefined && exchange.method === "GET" && exchange.policy.isApi && !isOwn;
    const cached = mayBeCached ? cache.lookUp(target.url) : NOT_CACHED;
    if (cache !== undefined && typeof cached !== "number") return respondFromCache(exchange, cache, cached);
    const { isApi, gatesItself } = exchange.policy;
    const unavailable = isApi && !gatesItself ? unavailableReason() : undefined;
    if (unavailable !== undefined) throw new ApiError("unavailable", unavailable);
    const allow = otherMethods(exchange.method, exchange.path);
    if (allow !== undefined) throw new ApiError("methodNotAllowed", undefined, { allow });
    // The router and every later hook read the URL from the request, so the canonical URL is set on the request
    // itself.
    if (target.url !== request.url) Object.defineProperty(request, "url", { value: target.url });
    keepExchange(request, exchange);
    const storeAndFinish = (response: Response) => {
      if (typeof cached === "number") store(target.url, exchange, cached);
      return finish(exchange, response);
    };
    const response =
      exchange.settlement === undefined ? route(request) : measured(exchange, exchange.settlement);
    return response instanceof Response ? storeAndFinish(response) : response.then(storeAndFinish);
  }

  interface Arrived {
    readonly request: Request;
    readonly connection: Connection | undefined;
    /** The memory that Bun may use to buffer its body while it waits for its turn. */
    hold?: Hold;
    /** Set when its turn begins. */
    exchange?: Exchange;
  }

  const handle = (arrived: Arrived): MaybePromise<Response> => {
    const { request, connection, hold } = arrived;
    hold?.end();
    const target = canonicalUrl(request.url);
    const exchange = openExchange(options, request, target.path, connection);
    arrived.exchange = exchange;
    const fail = (error: unknown) => finish(exchange, errorResponse({ exchange, error, log }));
    if (exchange.method === "OPTIONS") return finish(exchange, cors.preflight());
    if (!target.wellFormed) {
      return fail(new ApiError("badRequest", "path is not valid percent-encoded UTF-8"));
    }
    try {
      const run = () => {
        const admission = admit(exchange);
        return admission === undefined
          ? respond(exchange, target)
          : admission.then(() => respond(exchange, target));
      };
      const response = exchange.span ? exchange.span.run(run) : run();
      return response instanceof Response ? response : response.catch(fail);
    } catch (error) {
      return fail(error);
    }
  };
  const refuse = (arrived: Arrived, unit: string, shortage: Shortage): Response => {
    const { request, connection } = arrived;
    const exchange = openExchange(options, request, canonicalUrl(request.url).path, connection);
    arrived.exchange = exchange;
    return finish(exchange, errorResponse({ exchange, error: noRoom(unit, shortage), log }));
  };
  const addressOf = ({ request, connection }: Arrived): ClientAddress =>
    clients.of(connection?.requestIP(request)?.address, (name) => request.headers.get(name));
  const order = new FairOrder<Arrived, Response>({
    run: handle,
    // Counted by address, because a key is not known before it is verified.
    clientOf: (arrived) => addressOf(arrived).bucket,
    hold(arrived, client) {
      respondsLater(arrived.request);
      // Buffering of chunked bodies is bounded by their number.
      if (isChunked(arrived.request) || !mayHaveLargeBody(arrived.request)) return undefined;
      arrived.hold = bodies.budget.open(client);
      const shortage = arrived.hold.grow(Math.min(BUFFERED_BODY_BYTES, declaredBytes(arrived.request)));
      // Bun drops the rest of the body, and buffers nothing until the request is refused.
      if (shortage !== undefined) arrived.request.body?.cancel().catch(() => undefined);
      return shortage;
    },
    refuse: (arrived, shortage) => refuse(arrived, WAITING_REQUESTS.unit, shortage),
  });
  /** A chunked body without a place is refused at once and its connection closed, because Bun parses it for as long as it arrives. */
  const handleChunked = (arrived: Arrived): MaybePromise<Response> => {
    const place = placeOfChunked(arrived.request, bodies, addressOf(arrived).bucket);
    if (typeof place === "string") return refuse(arrived, bodies.chunkedBodies.terms.unit, place);
    return Promise.resolve(order.run(arrived)).finally(() => place.end());
  };
  return (request, connection) => {
    const arrived: Arrived = { request, connection };
    if (isChunked(request)) return handleChunked(arrived);
    const send = (response: Response) => {
      const { exchange } = arrived;
      return exchange?.isRefusal ? refuseLate(exchange, response) : response;
    };
    const response = order.run(arrived);
    return response instanceof Response ? send(response) : response.then(send);
  };
}
