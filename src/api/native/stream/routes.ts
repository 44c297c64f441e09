import { Type } from "@sinclair/typebox";
import { type AnyElysia, Elysia } from "elysia";
import { parseBody, rawBody } from "../../../http/body.ts";
import { ApiError } from "../../../http/errors.ts";
import { type Exchange, exchangeOf } from "../../../http/exchange.ts";
import { operation } from "../../../http/operation.ts";
import {
  badRequest,
  choice,
  type DecodedQuery,
  decodeQuery,
  integer,
  optional,
  text,
} from "../../../http/params.ts";
import { parseQueryString } from "../../../http/query-string.ts";
import { READ } from "../../../http/route-terms.ts";
import type { UnsentBytes } from "../../../http/unsent-bytes.ts";
import { err, type Result } from "../../../lib/result.ts";
import { ownValue, readObject } from "../../../management/fields.ts";
import { cursorOf, positionOf } from "../../../stream/position.ts";
import type { SlotRefusal, Transport } from "../../../stream/slots.ts";
import { sseBody } from "../../../stream/sse.ts";
import type { StreamStart } from "../../../stream/start-position.ts";
import type { OpenStream, StreamRefusal, Streams } from "../../../stream/streams.ts";
import { streamSocket } from "../../../stream/web-socket.ts";
import { REGEX_FIELDS } from "../../../webhooks/match/event-keys.ts";
import { readSubscription } from "../../../webhooks/read-subscription.ts";
import type { Subscription } from "../../../webhooks/subscription.ts";
import { SubscriptionSchema } from "../../../webhooks/subscription-schema.ts";
import { unwrapOrThrow } from "../../shared/management.ts";
import { EXPRESSION_UNITS } from "../../shared/prices.ts";
import { closed } from "../../shared/schemas.ts";
import { filterParams, subscriptionOf } from "./filters.ts";

export interface StreamDeps {
  /** Undefined while `stream.enabled` is false. */
  readonly streams: Streams | undefined;
  /** The budget of unsent bytes of all responses. */
  readonly unsent: UnsentBytes;
  /** The longest list in a query. */
  readonly maxIds: number;
}

const RETRY_AFTER_SECS = 5;
const MAX_CURSOR_CHARS = 512;
const MAX_LAST_EVENTS = 300;
const SSE_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
} as const;

const startParams = {
  cursor: optional(
    text({
      maxChars: MAX_CURSOR_CHARS,
      description:
        "The id of a frame, to go on behind it. The header `Last-Event-ID` does the same, and counts where both are given",
    }),
  ),
  since: optional(
    integer({
      min: 0,
      max: Number.MAX_SAFE_INTEGER,
      description: "Unix seconds, to begin with the first event that the node applied then or later",
    }),
  ),
  last: optional(
    integer({
      min: 1,
      max: MAX_LAST_EVENTS,
      description:
        "Begin with those of the node's last so many events that the stream has, the oldest first. `since` counts more",
    }),
  ),
  gap: optional(
    choice(["skip", "error"], {
      description:
        "What happens where the events behind the cursor are gone: `skip` sends a frame `gap` and goes on with the oldest event, `error` " +
        "responds with 410. Default: `error` for `cursor`, `skip` for `Last-Event-ID` and `since`",
    }),
  ),
};

const StreamSubscription = Type.Object(
  { subscription: SubscriptionSchema },
  { ...closed, $id: "StreamSubscription" },
);

const GoneEventsResponse = Type.Object(
  { message: Type.String(), code: Type.Literal("cursor_too_old"), oldest_cursor: Type.String() },
  closed,
);

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

/** What a client receives first. */
const EXAMPLE = `retry: 3000
id: Ae89dLNbIjk4MDRhIiwxMDM1LCIiXQ
event: hello
data: {"cursor":"Ae89dLNbIjk4MDRhIiwxMDM1LCIiXQ","oldest_cursor":"Ae89dLNbIjk4MDRhIiwwLCIiXQ","kinds":["follow.created"],"resumed":false,"lag_secs":0}
`;

/** Documents the responses, the body and the parameters, of which the document names the example of the kinds alone. */
function documentedAsStream<Hook extends { readonly detail: object }>(hook: Hook): Hook {
  const { responses, parameters, requestBody } = hook.detail as {
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
    ...hook,
    detail: {
      ...hook.detail,
      parameters: shown,
      ...body,
      responses: { 200: stream, ...failures, 410: gone },
    },
  };
}

/** `/stream`: the events of webhooks as server-sent events, or over a WebSocket. */
export function streamRoutes({ streams, unsent, maxIds }: StreamDeps): AnyElysia {
  const documented = {
    tags: ["Stream"],
    response: Type.Object({}),
    errors: ["notFound", "tooManyRequests", "unavailable"],
  } as const;

  // Has no hook that decodes the body: `readSubscription` also accepts other spellings of the kinds.
  const { transform: _, ...postHook } = documentedAsStream(
    operation({
      ...documented,
      access: READ,
      operationId: "streamSubscription",
      summary: "Stream the events of a subscription",
      description: "As `GET`, with the subscription of a webhook, which has filters for each kind of event.",
      query: startParams,
      body: StreamSubscription,
    }),
  );

  async function openStream(
    exchange: Exchange,
    options: { transport: Transport; subscription: Subscription | undefined; start: StreamStart },
  ): Promise<Result<OpenStream, Response>> {
    if (!streams) throw new ApiError("notFound", "the stream is disabled on this node (stream.enabled)");
    const opened = await streams.open({ address: exchange.client().bucket, ...options });
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
    exchange: Exchange,
    subscription: Subscription,
    start: StreamStart,
  ): Promise<Response> {
    if (exchange.method === "HEAD") return new Response(null, { headers: SSE_HEADERS });
    const opened = await openStream(exchange, { transport: "sse", subscription, start });
    if (!opened.ok) return opened.error;
    const { setIdleTimeout } = exchange;
    setIdleTimeout(0);
    return new Response(sseBody(opened.value.connection, { unsent, setIdleTimeout }), {
      headers: SSE_HEADERS,
    });
  }

  async function upgrade(
    exchange: Exchange,
    subscription: Subscription,
    { waits, start }: { waits: boolean; start: StreamStart },
  ): Promise<Response> {
    const opened = await openStream(exchange, {
      transport: "websocket",
      subscription: waits ? undefined : subscription,
      start,
    });
    if (!opened.ok) return opened.error;
    const session = streamSocket(opened.value, {
      unsent,
      waitsForSubscription: waits,
      readSubscription: (value) => {
        try {
          chargeExpressions(exchange, value);
        } catch (error) {
          if (error instanceof ApiError) return err(error.message);
          throw error;
        }
        const read = readSubscription(value, "subscription");
        return read.ok ? read : err(read.error.message);
      },
    });
    try {
      const response = exchange.upgrade(session);
      if (response) return response;
      throw badRequest("the request is no valid WebSocket handshake");
    } catch (error) {
      opened.value.connection.end("client");
      throw error;
    }
  }

  return new Elysia({ name: "stream" })
    .get(
      "/stream",
      ({ query, request }) => {
        const exchange = exchangeOf(request);
        const start = startOf(query, request);
        const subscription = subscriptionOf(query, request.url, maxIds);
        return request.headers.get("upgrade")?.toLowerCase() === "websocket"
          ? upgrade(exchange, subscription, { waits: query.wait === "1", start })
          : respondWithEvents(exchange, subscription, start);
      },
      documentedAsStream(
        operation({
          ...documented,
          operationId: "streamEvents",
          summary: "Stream events",
          description:
            "The events of webhooks, pushed as they happen: as server-sent events, or over a WebSocket with `Upgrade: websocket`, one JSON text " +
            "`{ id, event, data }` a frame. Each event comes once on a connection, and nothing is lost over a reconnect with the last cursor.",
          query: {
            ...filterParams(maxIds),
            ...startParams,
            wait: optional(
              choice(["1"], {
                description:
                  "Of a WebSocket: the subscription is the client's first message, as in the body of the POST",
              }),
            ),
          },
        }),
      ),
    )
    .post(
      "/stream",
      ({ request }) => {
        const query = decodeQuery(startParams, parseQueryString(request.url));
        const body = unwrapOrThrow(readObject(parseBody(rawBody(request)), "request body"));
        const exchange = exchangeOf(request);
        const value = ownValue(body, "subscription");
        chargeExpressions(exchange, value);
        const subscription = unwrapOrThrow(readSubscription(value, "subscription"));
        return respondWithEvents(exchange, subscription, startOf(query, request));
      },
      postHook,
    );
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

/**
 * Reads where a stream begins. An EventSource repeats its URL when it connects again, so its `Last-Event-ID` is later than a `cursor` in the
 * URL. It cannot change that header, and gives up for good on any status but 200: so a value that no node issued (cut short on the way,
 * of another service) is a gap like one of another index.
 *
 * @throws ApiError `badRequest` for a parameter `cursor` that no node issued
 */
function startOf(
  { cursor, since, last: events, gap }: DecodedQuery<typeof startParams>,
  { headers }: Request,
): StreamStart {
  const given = cursor === undefined ? undefined : positionOf(cursor);
  if (cursor !== undefined && !given) throw badRequest("cursor is no cursor of a stream");
  const lastEventId = headers.get("last-event-id") ?? "";
  const last = positionOf(lastEventId);
  if (given && !last) return { from: { kind: "cursor", position: given }, skipsGap: gap === "skip" };
  const skipsGap = gap !== "error";
  if (lastEventId !== "") return { from: { kind: "cursor", position: last }, skipsGap };
  if (since !== undefined) return { from: { kind: "since", unixSecs: since }, skipsGap };
  if (events !== undefined) return { from: { kind: "last", events }, skipsGap };
  return { from: { kind: "live" }, skipsGap };
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
