import type { Budget } from "../admission/budget.ts";
import type { ClientAddress, ClientAddresses } from "../admission/client-address.ts";
import { type Span, type Spans, traceOfCaller } from "../runtime/trace/span.ts";
import { ANONYMOUS } from "./caller.ts";
import type { Cors } from "./cors.ts";
import { ApiError } from "./errors.ts";
import type { BodyIntake, Exchange } from "./exchange.ts";
import { methodLabel } from "./metrics/http-metrics.ts";
import type { RoutePolicy } from "./policy.ts";
import type { WebSocketSession } from "./web-socket.ts";

/** What a listening server knows about a request's connection. */
export type Connection = Pick<Bun.Server<WebSocketSession>, "requestIP" | "timeout" | "upgrade">;

/** What a server's exchanges share. */
export interface ExchangeParts {
  readonly policyOf: (path: string) => RoutePolicy;
  readonly cors: Cors;
  readonly clients: ClientAddresses;
  readonly bodies: BodyIntake;
  /** The budget for unread responses. */
  readonly unsent: Budget;
  /** Undefined while traces are off. */
  readonly spans: Spans | undefined;
}

/** A client may choose an id that is safe in a log line and in a header. */
const clientRequestId = /^[\w=-]{1,128}$/;

/**
 * Opens the exchange of a request.
 *
 * @param path the canonical path.
 */
export function openExchange(
  parts: ExchangeParts,
  request: Request,
  path: string,
  connection: Connection | undefined,
): Exchange {
  const { policyOf, cors, clients, bodies, unsent } = parts;
  const clientId = request.headers.get("x-request-id");
  let client: ClientAddress | undefined;
  const policy = policyOf(path);
  return {
    request,
    requestId: clientId !== null && clientRequestId.test(clientId) ? clientId : Bun.randomUUIDv7(),
    method: request.method,
    path,
    policy,
    span: policy.isApi ? startSpan(parts, request, connection) : undefined,
    client: () => {
      client ??= clients.of(connection?.requestIP(request)?.address, (name) => request.headers.get(name));
      return client;
    },
    setIdleTimeout: (secs) => connection?.timeout(request, secs),
    upgrade(session) {
      if (!cors.allows(request)) throw new ApiError("forbidden", "this origin may not connect");
      const isUpgraded = connection?.upgrade(request, { data: session }) ?? false;
      return isUpgraded ? new Response(null, { status: 101 }) : undefined;
    },
    startedAtMs: performance.now(),
    route: undefined,
    caller: ANONYMOUS,
    cache: undefined,
    ready: undefined,
    bodies,
    unsent,
    bodyHold: undefined,
    bodyState: "unread",
    isRefusal: false,
    charge: () => undefined,
    settlement: undefined,
    isStillAdmitted: undefined,
    cpuUs: 0,
    isCpuMeasured: false,
    charged: 0,
    writes: 0,
    limitHeaders: undefined,
    cacheable: undefined,
  };
}

/** Starts the span of a request of the API. */
function startSpan(
  { clients, spans }: ExchangeParts,
  request: Request,
  connection: Connection | undefined,
): Span | undefined {
  if (!spans) return undefined;
  const method = methodLabel(request.method);
  return spans.start(
    { name: method, kind: "server", attributes: { "http.request.method": method } },
    traceOfCaller(request.headers.get("traceparent"), () =>
      clients.isProxy(connection?.requestIP(request)?.address),
    ),
  );
}
