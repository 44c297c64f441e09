import { ElysiaCustomStatusResponse, StatusMap } from "elysia";
import { jsonText } from "../lib/json-text.ts";
import { type Exchange, exchangeOf } from "./exchange.ts";

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

function asJson(exchange: Exchange, given: unknown, set: AnswerContext["set"]): Response {
  const chosen = given instanceof ElysiaCustomStatusResponse ? given : undefined;
  const value: unknown = chosen === undefined ? given : chosen.response;
  const status = statusOf(chosen?.code ?? set.status);
  const headers: Record<string, string> = { "content-type": "application/json" };
  const isRead = exchange.method === "GET" || exchange.method === "HEAD";
  if (value === undefined) throw new Error("the handler returned nothing");
  const body = encoder.encode(jsonText(value));
  let notModified = false;
  if (isRead && status === 200 && exchange.policy.cache === "revalidate") {
    const etag = `W/"${Bun.hash(body).toString(16)}"`;
    headers.etag = etag;
    headers["cache-control"] = revalidate;
    const ifNoneMatch = exchange.request.headers.get("if-none-match");
    notModified = ifNoneMatch !== null && matchesEtag(ifNoneMatch, etag);
  } else {
    headers["cache-control"] = "no-store";
  }
  for (const name in set.headers) headers[name] = String(set.headers[name]);
  if (!notModified) return new Response(body, { status, headers });
  delete headers["content-type"];
  return new Response(null, { status: 304, headers });
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
