import { Type } from "@sinclair/typebox";
import type { DocumentDecoration } from "elysia";
import type { Hold } from "../../../admission/budget.ts";
import { ApiError } from "../../../http/errors.ts";
import { clientKeyOf, type Exchange, exchangeOf } from "../../../http/exchange.ts";
import type { Price } from "../../../http/limits/prices.ts";
import { parseBody, rawBody } from "../../../http/request/body.ts";
import { badRequest, choice, decodeQuery, optional } from "../../../http/request/params.ts";
import { parseQueryString } from "../../../http/request/query-string.ts";
import type { Access } from "../../../http/route-terms.ts";
import { err, type Result } from "../../../lib/result.ts";
import { ownValue, readObject } from "../../../management/fields.ts";
import { cursorOf, type StreamStart } from "../../../stream/position.ts";
import type { SlotRefusal, Transport } from "../../../stream/slots.ts";
import { sseBody } from "../../../stream/sse.ts";
import type { OpenStream, StreamRefusal } from "../../../stream/streams.ts";
import { streamSocket } from "../../../stream/web-socket.ts";
import { REGEX_FIELDS } from "../../../webhooks/match/event-keys.ts";
import { readSubscription } from "../../../webhooks/read-subscription.ts";
import type { Subscription } from "../../../webhooks/subscription.ts";
import { SubscriptionSchema } from "../../../webhooks/subscription-schema.ts";
import type { ApiDeps } from "../../deps.ts";
import { closed } from "../../dialects/fields.ts";
import { unwrapOrThrow } from "../../respond.ts";
import { topic } from "../../topic.ts";
import { exclusionParams, filterParams, startOf, startParams, subscriptionOf } from "./parameters.ts";

const { op } = topic({ tag: "Stream", surface: "native" });

const RETRY_AFTER_SECS = 5;
const SSE_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
} as const;

const StreamSubscription = Type.Object(
  { subscription: SubscriptionSchema },
  { ...closed, $id: "StreamSubscription" },
);

const GoneEventsResponse = Type.Object(
  { message: Type.String(), code: Type.Literal("cursor_too_old"), oldest_cursor: Type.String() },
  closed,
);

/** A read, in which an API key counts where its owner's bans do. */
const access: Access = {
  kind: "keyUnlessRead",
  scope: "read",
  isRead: (query) => query.get("exclude_bans") !== "true",
};

/** What a client receives first. */
const EXAMPLE = `retry: 3000
id: Ae89dLNbIjk4MDRhIiwxMDM1LCIiXQ
event: hello
data: {"cursor":"Ae89dLNbIjk4MDRhIiwxMDM1LCIiXQ","oldest_cursor":"Ae89dLNbIjk4MDRhIiwwLCIiXQ","kinds":["follow.created"],"resumed":false,"lag_secs":0}
`;

/** Documents the responses, the body and the parameters, of which the document names only the example of the kinds. */
function documentedAsStream(detail: DocumentDecoration): DocumentDecoration {
  const { responses, parameters, requestBody } = detail as unknown as {
    responses: Record<string, object>;
    parameters: readonly { name: string; example?: unknown }[];
    requestBody?: { content: Record<string, object> };
  };
  const { 200: _, ...failures } = responses;
  const stream = {
    description:
      "Server-sent events: `hello`, then one for each matching event, with its cursor as the id and the body of the webhook as data",
    content: { "text/event-stream": { schema: { type: "string" }, example: EXAMPLE } },
  };
  const gone = {
    description:
      "The events behind the cursor are gone, or it is of another index. Begin at `oldest_cursor`, or without one",
    content: { "application/json": { schema: GoneEventsResponse } },
  };
  const shown = parameters.map(({ example, ...one }) => (one.name === "kinds" ? { ...one, example } : one));
  const body = requestBody && {
    requestBody: {
      ...requestBody,
      content: {
        "application/json": {
          ...requestBody.content["application/json"],
          example: {
            subscription: { "cast.created": { author_fids: [3], text: "(?i)gm" }, "follow.created": {} },
          },
        },
      },
    },
  };
  return {
    ...detail,
    parameters: shown,
    ...body,
    responses: { 200: stream, ...failures, 410: gone },
  } as unknown as DocumentDecoration;
}

/** The price of a regular expression in a subscription, which is compiled. */
const EXPRESSION_UNITS = 20;
const streamPrice: Price = ({ query }) => {
  const { text, embeds } = query();
  return 1 + EXPRESSION_UNITS * ((text ? 1 : 0) + (embeds ? 1 : 0));
};

const stream = {
  path: "/stream",
  access,
  response: Type.Object({}),
  errors: ["notFound", "tooManyRequests", "unavailable"],
  price: streamPrice,
  document: documentedAsStream,
} as const;

/** The events of webhooks as server-sent events, or over a WebSocket. */
export const streamOperations = [
  op({
    ...stream,
    id: "streamEvents",
    summary: "Stream events",
    description:
      "The events of webhooks, pushed as they happen: as server-sent events, or over a WebSocket with `Upgrade: websocket`, one JSON text " +
      "`{ id, event, data }` a frame. Each event comes once on a connection, and nothing is lost over a reconnect with the last cursor.",
    query: ({ reads: { maxIds } }) => ({
      ...filterParams(maxIds),
      ...exclusionParams,
      ...startParams,
      wait: optional(
        choice(["1"], {
          description:
            "Of a WebSocket: the subscription is the client's first message, as in the body of the POST",
        }),
      ),
    }),
    run({ streams, reads }, { query, request }) {
      const exchange = exchangeOf(request);
      const start = startOf(query, request);
      const { minimum_author_score: score, exclude_bans: bans } = query;
      if (score !== undefined && !acceptsScores(reads))
        throw badRequest(
          "minimum_author_score has no effect on this node: scores.enforce does not list webhooks",
        );
      const subscription = withBans(subscriptionOf(query, request.url, reads.maxIds), bans);
      return request.headers.get("upgrade")?.toLowerCase() === "websocket"
        ? upgrade(streams, exchange, { subscription, waits: query.wait === "1", start, reads })
        : respondWithEvents(streams, exchange, subscription, start);
    },
  }),
  op({
    ...stream,
    id: "streamSubscription",
    method: "POST",
    summary: "Stream the events of a subscription",
    description: "As `GET`, with the subscription of a webhook, which has filters for each kind of event.",
    query: { ...exclusionParams, ...startParams },
    body: StreamSubscription,
    // `readSubscription` also accepts other spellings of the kinds.
    isRaw: true,
    run({ streams, reads }, { request }) {
      const params = { ...exclusionParams, ...startParams };
      const query = decodeQuery(params, parseQueryString(request.url));
      const body = unwrapOrThrow(readObject(parseBody(rawBody(request)), "request body"));
      const exchange = exchangeOf(request);
      const value = ownValue(body, "subscription");
      chargeExpressions(exchange, value);
      const read = unwrapOrThrow(
        readSubscription(value, "subscription", { acceptsScores: acceptsScores(reads) }),
      );
      const subscription = withBans(read, query.exclude_bans);
      const refusal = bansRefusal(exchange, subscription);
      if (refusal !== undefined) throw badRequest(refusal);
      return respondWithEvents(streams, exchange, subscription, startOf(query, request));
    },
  }),
];

const acceptsScores = ({ cache }: ApiDeps["reads"]): boolean =>
  cache.scores?.enforced.has("webhooks") ?? false;

function withBans(subscription: Subscription, bans: "true" | "false" | undefined): Subscription {
  return bans === "true"
    ? { ...subscription, exclude: { ...subscription.exclude, bans: true } }
    : subscription;
}

function ownerOf({ caller }: Exchange): number | undefined {
  return caller.kind === "apiKey" ? caller.ownerFid : undefined;
}

/** Why bans cannot be excluded; undefined where they can, or are not. */
function bansRefusal(exchange: Exchange, { exclude }: Subscription): string | undefined {
  if (exclude?.bans !== true || ownerOf(exchange) !== undefined) return undefined;
  return "subscription.exclude.bans needs an API key, which counts with exclude_bans=true in the query";
}

const unsentOf = (exchange: Exchange): Hold => exchange.unsent.open(clientKeyOf(exchange));

/** How often a stream with an API key looks whether the key is still valid. */
const KEY_CHECK_MS = 1_000;

/** Ends a stream when its key has ended or the node cannot tell; in the latter case the client resumes at another node. */
function endWithKey(connection: OpenStream["connection"], isStillAdmitted: () => Promise<boolean>): void {
  const check = async () => {
    if (connection.hasEnded) return clearInterval(checking);
    try {
      if (!(await isStillAdmitted())) connection.end("key_ended", "the API key is no longer valid");
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
  if (exchange.isStillAdmitted) endWithKey(connection, exchange.isStillAdmitted);
  return opened;
}

async function respondWithEvents(
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

async function upgrade(
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
 * Charges for the regular expressions of a subscription that is not read yet. Those of a query are in the price of the request.
 *
 * @throws ApiError `tooManyRequests`
 */
function chargeExpressions({ charge }: Exchange, subscription: unknown): void {
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

/** Returns the response of a refusal that has a body of its own, throws the others. */
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
