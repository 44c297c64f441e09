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
  /** What the bodies of all requests in flight hold. */
  readonly budget: Budget;
  /** Requests whose body is arriving. */
  readonly uploads: Budget;
  /** Requests whose body has no Content-Length, and KiB of them. */
  readonly chunkedBodies: Budget;
  readonly chunks: BucketTable;
  readonly chunkShare: BucketLimit;
  /** KiB of refused bodies that are read nonetheless. */
  readonly discards: BucketTable;
  readonly discardShare: BucketLimit;
  /** How long a body may take, and how much longer for each further byte. */
  readonly graceMs: number;
  readonly msPerByte: number;
  /** How long a client may pause within a refused body that is read nonetheless, and how long all of it may take. */
  readonly discardPauseMs: number;
  readonly discardMs: number;
}

/** Charges callers afterwards for what responses took. */
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
  /** Who sent the request. Determined when it is first asked for, at the latest before the response is sent. */
  readonly client: () => ClientAddress;
  /**
   * Sets the seconds without a byte after which the connection is closed; 0 for never.
   */
  readonly setIdleTimeout: (secs: number) => void;
  /**
   * Turns the connection into a WebSocket and returns the response of the route; undefined if the request cannot be upgraded.
   * @throws ApiError `forbidden` for an origin that may not read responses
   */
  readonly upgrade: (session: WebSocketSession) => Response | undefined;
  /** Reading of the monotonic clock, ms. */
  readonly startedAtMs: number;
  /** Template of the matched route, for example `/v2/svc/user`; undefined if no route matches. */
  route: string | undefined;
  /** Anonymous until the edge has admitted the request. */
  caller: Caller;
  /**
   * Whether the API key of a body that arrived slowly, or of a long-running response, is still valid; undefined without a key.
   * @throws StateUnavailable while that cannot be known
   */
  isStillAdmitted: (() => Promise<boolean>) | undefined;
  /** What the route declares: decides whether the response to an API key is its owner's. */
  cache: RouteCache | undefined;
  /** What the route has at hand. */
  ready: ReadyBody | undefined;
  /** How its body is received. */
  readonly bodies: BodyIntake;
  /** What all clients leave unread of responses. */
  readonly unsent: Budget;
  /** What its body holds until the response; undefined before any of it has arrived. */
  bodyHold: Hold | undefined;
  /** Of its body. The connection of one that was refused is closed. */
  bodyState: "unread" | "read" | "refused";
  /** Whether its response refuses it for its client's share, or leaves its body unread. */
  isRefusal: boolean;
  /** Charges the caller for more than the edge could see. @throws ApiError `tooManyRequests` */
  charge: (units: number) => void;
  /** Charges the caller for the CPU time of the response; undefined for a caller without a limit. */
  settlement: Settlement | undefined;
  /** CPU time of this thread that the response has taken, microseconds, where it was measured; else the time until it was made. For callers with a limit. */
  cpuUs: number;
  isCpuMeasured: boolean;
  /** Units that the caller was charged. */
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

/** A property of the request: an entry of a `WeakMap` costs each collection of garbage more. */
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

/** Returns what counts as one client: an API key, else an address. */
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
