import { ElysiaCustomStatusResponse, StatusMap } from "elysia";
import { jsonPieces, jsonTextWithin } from "../../lib/json-text.ts";
import type { CommonHeaders } from "../cors.ts";
import { type Exchange, exchangeOf } from "../exchange.ts";
import { type CacheOfRoute, isOwnResponse, type RouteCache } from "../route-terms.ts";
import { codedBytes, createChooseCoding, MIN_CODED_BYTES, type TaggedBody } from "./content-coding.ts";
import { type BodySender, JsonStream, MAX_WHOLE_BYTES } from "./response-body.ts";

/** The parts of Elysia's context from which a representation is built. */
export interface ResponseContext {
  readonly request: Request;
  readonly route: string;
  readonly responseValue: unknown;
  readonly set: {
    readonly status?: number | keyof StatusMap;
    readonly headers: Readonly<Record<string, string | number | readonly string[] | undefined>>;
  };
}

const encoder = new TextEncoder();
const chooseCoding = createChooseCoding();

/** RFC 9110, 13.1.2: a list of tags, compared weakly, or `*`. */
function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch.trim() === "*") return true;
  const opaque = etag.slice(2);
  return ifNoneMatch.split(",").some((tag) => tag.trim().replace(/^W\//, "") === opaque);
}

/** Adds the weak ETag to a body. It is computed from the bytes before any content coding. */
export function tagBody(body: Uint8Array): TaggedBody {
  return { body, etag: `W/"${Bun.hash(body).toString(16)}"`, coded: new Map() };
}

function statusOf(status: ResponseContext["set"]["status"]): number {
  return typeof status === "string" ? StatusMap[status] : (status ?? 200);
}

/**
 * Responds to a read with its body, compressed if the client accepts it, or with 304 if the client's ETag matches.
 * @param headers those of all reads, without the ETag
 * @throws ApiError `unavailable` if too many bytes are already waiting to be sent
 */
export function respondToRead(
  request: Request,
  tagged: TaggedBody,
  headers: Headers,
  sender: BodySender,
): Response {
  const response = untaggedResponse(request, tagged, headers, sender);
  response.headers.set("etag", tagged.etag);
  return response;
}

function untaggedResponse(
  request: Request,
  tagged: TaggedBody,
  headers: Headers,
  sender: BodySender,
): Response {
  const { body, etag } = tagged;
  const ifNoneMatch = request.headers.get("if-none-match");
  if (ifNoneMatch === null || !matchesEtag(ifNoneMatch, etag)) {
    const coding =
      body.byteLength < MIN_CODED_BYTES ? undefined : chooseCoding(request.headers.get("accept-encoding"));
    if (coding === undefined) return sender.whole(request, body, { headers });
    const response = sender.whole(request, codedBytes(tagged, coding), { headers });
    response.headers.set("content-encoding", coding);
    return response;
  }
  const notModified = new Response(null, { status: 304, headers });
  notModified.headers.delete("content-type");
  return notModified;
}

/** Returns the bytes of a value's JSON; undefined if they exceed `MAX_WHOLE_BYTES`. */
function wholeJson(value: unknown): Uint8Array | undefined {
  const text = jsonTextWithin(value, MAX_WHOLE_BYTES);
  const body = text === undefined ? undefined : encoder.encode(text);
  return body !== undefined && body.byteLength <= MAX_WHOLE_BYTES ? body : undefined;
}

interface RepresentOptions {
  readonly result: unknown;
  readonly set: ResponseContext["set"];
  readonly cache: RouteCache | undefined;
  readonly common: CommonHeaders;
  readonly sender: BodySender;
}

function asJson(exchange: Exchange, options: RepresentOptions): Response | Promise<Response> {
  const { result, set, cache, common, sender } = options;
  const custom = result instanceof ElysiaCustomStatusResponse ? result : undefined;
  const value: unknown = custom === undefined ? result : custom.response;
  if (value === undefined) throw new Error("the handler returned nothing");
  const { request, method } = exchange;
  const status = statusOf(custom?.code ?? set.status);
  const untagged = () => ({
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headersOf(set) },
  });
  const isTagged = (method === "GET" || method === "HEAD") && status === 200 && cache !== undefined;
  const whole = (body: Uint8Array): Response => {
    if (!isTagged) return sender.whole(request, body, untagged());
    const tagged = tagBody(body);
    const isKept = body.byteLength <= exchange.policy.maxCachedBytes;
    if (method === "GET" && cache === "shared" && isKept) exchange.cacheable = tagged;
    return respondToRead(request, tagged, cache === "minutes" ? common.ofMinutes : common.ofReads, sender);
  };

  const body = value instanceof JsonStream ? undefined : wholeJson(value);
  if (body !== undefined) return whole(body);
  const stream = value instanceof JsonStream ? value : new JsonStream(jsonPieces(value));
  return sender
    .collect(request, stream)
    .then((collected) => (typeof collected === "function" ? collected(untagged()) : whole(collected)));
}

/** A response to the owner of an API key is not cached anywhere; without a key it is shared. */
function cacheFor({ caller }: Exchange, cache: RouteCache | undefined): RouteCache | undefined {
  if (cache !== "sharedWithoutKey" && cache !== "sharedWithoutRules") return cache;
  return isOwnResponse(cache, caller) ? undefined : "shared";
}

/** Returns the headers set by a handler. Only handlers of routes without a cache declaration set any. */
function headersOf(set: ResponseContext["set"]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name in set.headers) headers[name] = String(set.headers[name]);
  return headers;
}

/**
 * Creates the hook that converts a handler's result to its response: JSON, serialized once. The response has a weak ETag if the route
 * declares which caches may store it and the body is small enough to be built whole. A handler that needs another content type returns a
 * `Response`, which the hook does not change; error responses are not changed either.
 *
 * The context is destructured in the parameter list: Elysia reads a hook's source to find out which properties it uses, and prepares all
 * of them (headers, query, cookies) for a hook that passes its context on.
 */
export function createRepresent(
  cacheOf: CacheOfRoute,
  { common, sender }: { readonly common: CommonHeaders; readonly sender: BodySender },
) {
  return ({ request, route, responseValue, set }: ResponseContext) => {
    const exchange = exchangeOf(request);
    exchange.route = route;
    if (responseValue instanceof Response) return undefined;
    const cache = cacheFor(exchange, cacheOf(route));
    // Elysia decides from a handler's source whether to await it, and misses some handlers that return a promise.
    const representation =
      responseValue instanceof Promise
        ? responseValue.then((value) =>
            value instanceof Response
              ? value
              : asJson(exchange, { result: value, set, cache, common, sender }),
          )
        : asJson(exchange, { result: responseValue, set, cache, common, sender });
    return representation;
  };
}
