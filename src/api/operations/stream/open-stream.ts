import type { Hold } from "../../../admission/budget.ts";
import { ApiError } from "../../../http/errors.ts";
import { clientKeyOf, type Exchange } from "../../../http/exchange.ts";
import { badRequest } from "../../../http/request/params.ts";
import { err, type Result } from "../../../lib/result.ts";
import { cursorOf, type StreamStart } from "../../../stream/position.ts";
import type { SlotRefusal, Transport } from "../../../stream/slots.ts";
import { sseBody } from "../../../stream/sse.ts";
import type { OpenStream, StreamRefusal } from "../../../stream/streams.ts";
import { streamSocket } from "../../../stream/web-socket.ts";
import { REGEX_FIELDS } from "../../../webhooks/match/event-keys.ts";
import { readSubscription } from "../../../webhooks/read-subscription.ts";
import type { Subscription } from "../../../webhooks/subscription.ts";
import type { ApiDeps } from "../../deps.ts";

const RETRY_AFTER_SECS = 5;
const SSE_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
} as const;

/** The price of a regular expression in a subscription, which must be compiled. */
export const EXPRESSION_UNITS = 20;

export const acceptsScores = ({ cache }: ApiDeps["reads"]): boolean =>
  cache.scores?.enforced.has("webhooks") ?? false;

function ownerOf({ caller }: Exchange): number | undefined {
  return caller.kind === "apiKey" ? caller.ownerFid : undefined;
}

/** Returns why bans cannot be excluded; undefined if they can, or if that is not requested. */
export function bansRefusal(exchange: Exchange, { exclude }: Subscription): string | undefined {
  if (exclude?.bans !== true || ownerOf(exchange) !== undefined) return undefined;
  return "subscription.exclude.bans needs an API key, which counts with exclude_bans=true in the query";
}

const unsentOf = (exchange: Exchange): Hold => exchange.unsent.open(clientKeyOf(exchange));

/** How often a stream checks whether its API key is still valid or, without one, whether it may still do without. */
const KEY_CHECK_MS = 1_000;

/** Ends a stream when its client is no longer admitted or the node cannot find out; in the latter case the client resumes at another node. */
function endWithAdmission(
  connection: OpenStream["connection"],
  { caller, isStillAdmitted }: Pick<Exchange, "caller" | "isStillAdmitted">,
): void {
  if (!isStillAdmitted) return;
  const reason = caller.kind === "apiKey" ? "the API key is no longer valid" : "reads need an API key";
  const check = async () => {
    if (connection.hasEnded) return clearInterval(checking);
    try {
      if (!(await isStillAdmitted())) connection.end("key_ended", reason);
    } catch {
      connection.end("shutdown");
    }
  };
  const checking = setInterval(check, KEY_CHECK_MS);
}

async function openStream(
  streams: ApiDeps["streams"],
  exchange: Exchange,
  options: { transport: Transport; subscription: Subscription | undefined; start: StreamStart },
): Promise<Result<OpenStream, Response>> {
  if (!streams) throw new ApiError("notFound", "the stream is disabled on this node (stream.enabled)");
  const opened = await streams.open({
    address: exchange.client().bucket,
    ownerFid: ownerOf(exchange),
    ...options,
  });
  if (!opened.ok) return refusalOf(opened.error);
  const { connection } = opened.value;
  const { signal } = exchange.request;
  const leave = () => connection.end("client");
  if (signal.aborted) leave();
  else signal.addEventListener("abort", leave);
  endWithAdmission(connection, exchange);
  return opened;
}

export async function respondWithEvents(
  streams: ApiDeps["streams"],
  exchange: Exchange,
  subscription: Subscription,
  start: StreamStart,
): Promise<Response> {
  if (exchange.method === "HEAD") return new Response(null, { headers: SSE_HEADERS });
  const opened = await openStream(streams, exchange, { transport: "sse", subscription, start });
  if (!opened.ok) return opened.error;
  const { setIdleTimeout } = exchange;
  setIdleTimeout(0);
  return new Response(sseBody(opened.value.connection, { unsent: unsentOf(exchange), setIdleTimeout }), {
    headers: SSE_HEADERS,
  });
}

export async function upgrade(
  streams: ApiDeps["streams"],
  exchange: Exchange,
  options: {
    readonly subscription: Subscription;
    readonly waits: boolean;
    readonly start: StreamStart;
    readonly reads: ApiDeps["reads"];
  },
): Promise<Response> {
  const { subscription, waits, start, reads } = options;
  const opened = await openStream(streams, exchange, {
    transport: "websocket",
    subscription: waits ? undefined : subscription,
    start,
  });
  if (!opened.ok) return opened.error;
  const session = streamSocket(opened.value, {
    unsent: unsentOf(exchange),
    waitsForSubscription: waits,
    readSubscription: (value) => {
      try {
        chargeExpressions(exchange, value);
      } catch (error) {
        if (error instanceof ApiError) return err(error.message);
        throw error;
      }
      const read = readSubscription(value, "subscription", { acceptsScores: acceptsScores(reads) });
      if (!read.ok) return err(read.error.message);
      const refusal = bansRefusal(exchange, read.value);
      return refusal === undefined ? read : err(refusal);
    },
  });
  try {
    const response = exchange.upgrade(session);
    if (response) return response;
    throw badRequest("the request is not a valid WebSocket handshake");
  } catch (error) {
    opened.value.connection.end("client");
    throw error;
  }
}

/**
 * Charges for the regular expressions of a subscription before it is read. Those of a query are part of the request's price.
 *
 * @throws ApiError `tooManyRequests`
 */
export function chargeExpressions({ charge }: Exchange, subscription: unknown): void {
  const filters = Object.values(Object(subscription)).map(Object);
  const expressions = filters.flatMap((filter) =>
    REGEX_FIELDS.filter((field) => Object.hasOwn(filter, field)),
  );
  if (expressions.length > 0) charge(EXPRESSION_UNITS * expressions.length);
}

const LIMIT_TEXTS: Readonly<Record<SlotRefusal, string>> = {
  connections: "too many streams are open; try again",
  address: "too many streams of this address are open",
  expressions: "too many different expressions are in use by streams; try again",
  "address expressions": "the streams of this address have too many different expressions",
  entries: "the filters of all streams have too many entries; try again",
  "address entries": "the filters of the streams of this address have too many entries",
};

/** Returns the response of a refusal that has its own body; throws for the others. */
function refusalOf(refusal: StreamRefusal): Result<never, Response> {
  const retry = { retryAfterSecs: RETRY_AFTER_SECS };
  if (refusal.kind === "unavailable") throw new ApiError("unavailable", refusal.reason, retry);
  if (refusal.kind === "complete")
    return err(new Response(null, { status: 204, headers: { "cache-control": "no-store" } }));
  if (refusal.kind === "gone") {
    const body = {
      message: "the events behind the cursor are gone, or it is of another index",
      code: "cursor_too_old",
      oldest_cursor: cursorOf(refusal.oldest),
    };
    return err(Response.json(body, { status: 410, headers: { "cache-control": "no-store" } }));
  }
  const { limit } = refusal;
  const isBusy = limit === "expressions" || limit === "entries";
  throw new ApiError(isBusy ? "unavailable" : "tooManyRequests", LIMIT_TEXTS[limit], retry);
}
