import { ElysiaCustomStatusResponse, StatusMap } from "elysia";
import { jsonText } from "../lib/json-text.ts";
import { type Exchange, exchangeOf, type TaggedBody } from "./exchange.ts";

/** What the representation of an answer needs of Elysia's context. */
export interface AnswerContext {
  readonly request: Request;
  readonly route: string;
  readonly responseValue: unknown;
  readonly set: {
    readonly status?: number | keyof StatusMap;
    readonly headers: Readonly<Record<string, string | number | readonly string[] | undefined>>;
  };
}

const encoder = new TextEncoder();

/** Reads may be kept, but must be asked about each time: data changes with every message that is merged. */
const revalidate = "public, no-cache";

/** RFC 9110, 13.1.2: a list of tags, compared weakly, or `*`. */
function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch.trim() === "*") return true;
  const opaque = etag.slice(2);
  return ifNoneMatch.split(",").some((given) => given.trim().replace(/^W\//, "") === opaque);
}

function statusOf(status: AnswerContext["set"]["status"]): number {
  return typeof status === "string" ? StatusMap[status] : (status ?? 200);
}

/** What the answer to a read carries, whoever asks for it. */
export function readHeaders(etag: string): Record<string, string> {
  return { "content-type": "application/json", etag, "cache-control": revalidate };
}

/** Answers a read with its body, or with 304 where the client holds just that. */
export function answerRead(
  request: Request,
  { body, etag }: TaggedBody,
  headers: Headers | Record<string, string>,
): Response {
  const ifNoneMatch = request.headers.get("if-none-match");
  if (ifNoneMatch === null || !matchesEtag(ifNoneMatch, etag)) return new Response(body, { headers });
  const notModified = new Response(null, { status: 304, headers });
  notModified.headers.delete("content-type");
  return notModified;
}

function asJson(exchange: Exchange, given: unknown, set: AnswerContext["set"]): Response {
  const chosen = given instanceof ElysiaCustomStatusResponse ? given : undefined;
  const value: unknown = chosen === undefined ? given : chosen.response;
  if (value === undefined) throw new Error("the handler returned nothing");
  const { request, method, policy } = exchange;
  const status = statusOf(chosen?.code ?? set.status);
  const body = encoder.encode(jsonText(value));
  const isRead = method === "GET" || method === "HEAD";
  if (!isRead || status !== 200 || policy.cache !== "revalidate") {
    const headers = { "content-type": "application/json", "cache-control": "no-store" };
    return new Response(body, { status, headers: { ...headers, ...headersOf(set) } });
  }
  const tagged = { body, etag: `W/"${Bun.hash(body).toString(16)}"` };
  if (method === "GET" && policy.isRepeatable) exchange.repeatable = tagged;
  return answerRead(request, tagged, readHeaders(tagged.etag));
}

/** What a handler has set. Only those do whose answers are not kept. */
function headersOf(set: AnswerContext["set"]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name in set.headers) headers[name] = String(set.headers[name]);
  return headers;
}

/**
 * The hook that turns a handler's value into its answer: JSON, serialised once, with a weak ETag on reads. A handler
 * that needs another content type returns a `Response`, which is left as it is; so is the answer to an error.
 *
 * The context is taken apart in the parameter list, because Elysia reads a hook's source to learn what to prepare, and
 * prepares everything (all headers, query, cookies) for a hook that hands its context on.
 */
export function represent({ request, route, responseValue, set }: AnswerContext) {
  const exchange = exchangeOf(request);
  exchange.route = route;
  if (responseValue instanceof Response) return undefined;
  // Elysia guesses from a handler's source whether to await it, and misses some that return a promise.
  const representation =
    responseValue instanceof Promise
      ? responseValue.then((value) => (value instanceof Response ? value : asJson(exchange, value, set)))
      : asJson(exchange, responseValue, set);
  return representation;
}
