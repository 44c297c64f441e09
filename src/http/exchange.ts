import type { BucketLimit, BucketTable } from "../admission/bucket-table.ts";
import type { Budget, Hold } from "../admission/budget.ts";
import type { ClientAddress } from "../admission/client-address.ts";
import type { Span } from "../runtime/trace/span.ts";
import { type ApiKeyCaller, type Caller, invalidKey } from "./caller.ts";
import type { RoutePolicy } from "./policy.ts";
import type { TaggedBody } from "./response/content-coding.ts";
import type { ReadyBody, RouteCache } from "./route-terms.ts";
import type { WebSocketSession } from "./web-socket.ts";

/** How request bodies are received. */
export interface BodyIntake {
  /** The memory for the bodies of all requests in flight. */
  readonly budget: Budget;
  /** Requests whose body is arriving. */
  readonly uploads: Budget;
  /** Requests whose body has no Content-Length, and KiB of them. */
  readonly chunkedBodies: Budget;
  readonly chunks: BucketTable;
  readonly chunkShare: BucketLimit;
  /** KiB of refused bodies that are still read. */
  readonly discards: BucketTable;
  readonly discardShare: BucketLimit;
  /** The time limit of a body, and its extension per byte. */
  readonly graceMs: number;
  readonly msPerByte: number;
  /** How long a client may pause within a refused body that is still read, and the time limit for all of it. */
  readonly discardPauseMs: number;
  readonly discardMs: number;
}

/** Charges callers afterwards for the costs of responses. */
export interface Settlement {
  needsCpuTime(exchange: Exchange): boolean;
  settle(exchange: Exchange): void;
}

/** State of one request and its response. The pipeline opens it; later steps fill it in. */
export interface Exchange {
  readonly request: Request;
  readonly requestId: string;
  readonly method: string;
  /** The canonical path, without the query string. */
  readonly path: string;
  readonly policy: RoutePolicy;
  /** Returns who sent the request. Determined at the first call, at the latest before the response is sent. */
  readonly client: () => ClientAddress;
  /** Sets the seconds without a byte after which the connection is closed; 0 for never. */
  readonly setIdleTimeout: (secs: number) => void;
  /**
   * Turns the connection into a WebSocket and returns the response of the route; undefined if the request cannot be upgraded.
   * @throws ApiError `forbidden` for an origin that may not read responses
   */
  readonly upgrade: (session: WebSocketSession) => Response | undefined;
  /** Monotonic clock, ms. */
  readonly startedAtMs: number;
  /** Template of the matched route, for example `/v2/svc/user`; undefined if no route matches. */
  route: string | undefined;
  /** Anonymous until the edge has admitted the request. */
  caller: Caller;
  /**
   * Reports whether the client of a slow body or a long-running response is still admitted: its API key is valid, or none is needed.
   * Undefined on routes that verify a credential of their own.
   * @throws StateUnavailable while that is unknown
   */
  isStillAdmitted: (() => Promise<boolean>) | undefined;
  /** The route's declaration. It determines whether the response to an API key belongs to its owner. */
  cache: RouteCache | undefined;
  /** The body that the route has ready, if any. */
  ready: ReadyBody | undefined;
  /** How its body is received. */
  readonly bodies: BodyIntake;
  /** The budget for unread responses of all clients. */
  readonly unsent: Budget;
  /** The memory held for its body until the response; undefined before any of it has arrived. */
  bodyHold: Hold | undefined;
  /** The state of its body. If it was refused, the connection is closed. */
  bodyState: "unread" | "read" | "refused";
  /** Whether the response is a refusal because of the client's share, or leaves the body unread. */
  isRefusal: boolean;
  /** Charges the caller for additional units that the edge could not foresee. @throws ApiError `tooManyRequests` */
  charge: (units: number) => void;
  /** Charges the caller for the CPU time of the response; undefined for a caller without a limit. */
  settlement: Settlement | undefined;
  /**
   * CPU time of this thread for the response in microseconds if measured; otherwise the time until it was created. For callers with a
   * limit.
   */
  cpuUs: number;
  isCpuMeasured: boolean;
  /** Units for which the caller was charged. */
  charged: number;
  /** Messages that the request has written. */
  writes: number;
  /** What the caller has left; undefined for a caller without a limit. */
  limitHeaders: { readonly policy: string; readonly state: string } | undefined;
  /** Undefined for a request that is not traced. */
  readonly span: Span | undefined;
  /** Body of a response whose route declares it cacheable in this process. */
  cacheable: TaggedBody | undefined;
}

/** A property of the request, because an entry of a `WeakMap` makes each garbage collection more expensive. */
const EXCHANGE = Symbol("exchange");

export function keepExchange(request: Request & { [EXCHANGE]?: Exchange }, exchange: Exchange): void {
  request[EXCHANGE] = exchange;
}

/** Returns the exchange of a request that the pipeline has opened. */
export function exchangeOf(request: Request & { readonly [EXCHANGE]?: Exchange }): Exchange {
  const exchange = request[EXCHANGE];
  if (exchange === undefined) throw new Error("the request did not pass through the pipeline");
  return exchange;
}

/** Returns the key by which a client is counted: an API key, or else an address. */
export function clientKeyOf({ caller, client }: Exchange): string {
  return caller.kind === "apiKey" ? caller.apiKeyId : client().bucket;
}

/** Returns who sends a request. */
export function callerOf(request: Request): Caller {
  return exchangeOf(request).caller;
}

/**
 * Returns the API key of a request of a route that requires one.
 *
 * @throws ApiError `unauthorized`; never for a request that passed the edge.
 */
export function keyCallerOf(request: Request): ApiKeyCaller {
  const caller = callerOf(request);
  if (caller.kind !== "apiKey") throw invalidKey();
  return caller;
}
