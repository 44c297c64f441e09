import type { CodedBody } from "./content-coding.ts";
import type { RoutePolicy } from "./policy.ts";

/** One request and its answer, as far as they are known. It is opened by the edge and filled on the way. */
export interface Exchange {
  readonly request: Request;
  readonly requestId: string;
  readonly method: string;
  /** The canonical path, without the query string. */
  readonly path: string;
  readonly policy: RoutePolicy;
  /** Reading of the monotonic clock, ms. */
  readonly startedAtMs: number;
  /** Template of the route that answers, as in `/v2/svc/user`; undefined where no route does. */
  route: string | undefined;
  /** The body of a response that its route lets the process cache. */
  cacheable: TaggedBody | undefined;
}

/** A body and the tag of its bytes, which is the same in every coding. */
export interface TaggedBody extends CodedBody {
  readonly etag: string;
}

const exchanges = new WeakMap<Request, Exchange>();

export function openExchange(request: Request, exchange: Exchange): void {
  exchanges.set(request, exchange);
}

/** The exchange of a request that came in through the edge. */
export function exchangeOf(request: Request): Exchange {
  const exchange = exchanges.get(request);
  if (exchange === undefined) throw new Error("the request did not come in through the edge");
  return exchange;
}
