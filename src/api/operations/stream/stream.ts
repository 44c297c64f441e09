import { Type } from "@sinclair/typebox";
import type { DocumentDecoration } from "elysia";
import { exchangeOf } from "../../../http/exchange.ts";
import type { Price } from "../../../http/limits/prices.ts";
import { parseBody, rawBody } from "../../../http/request/body.ts";
import { badRequest, choice, decodeQuery, optional } from "../../../http/request/params.ts";
import { parseQueryString } from "../../../http/request/query-string.ts";
import type { Access } from "../../../http/route-terms.ts";
import { ownValue, readObject } from "../../../management/fields.ts";
import { unknownKey } from "../../../management/request-schema.ts";
import { readSubscription } from "../../../webhooks/read-subscription.ts";
import type { Subscription } from "../../../webhooks/subscription.ts";
import { SubscriptionSchema } from "../../../webhooks/subscription-schema.ts";
import { object } from "../../dialects/fields.ts";
import { unwrapOrThrow } from "../../respond.ts";
import { topic } from "../../topic.ts";
import {
  acceptsScores,
  bansRefusal,
  chargeExpressions,
  EXPRESSION_UNITS,
  respondWithEvents,
  upgrade,
} from "./open-stream.ts";
import { exclusionParams, filterParams, startOf, startParams, subscriptionOf } from "./parameters.ts";

const { op } = topic({ tag: "Stream", surface: "native" });

const StreamSubscription = object({ subscription: SubscriptionSchema }, { $id: "StreamSubscription" });

const GoneEventsResponse = object({
  message: Type.String(),
  code: Type.Literal("cursor_too_old"),
  oldest_cursor: Type.String(),
});

/** A read, for which an API key is used if its owner's bans apply. */
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

/** Documents the responses, the body and the parameters; the document contains only the example of the kinds. */
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
const streamPrice: Price = ({ query }) => {
  const { text, embeds } = query();
  return 1 + EXPRESSION_UNITS * ((text ? 1 : 0) + (embeds ? 1 : 0));
};

export const stream = {
  path: "/stream",
  access,
  response: Type.Object({}),
  errors: ["notFound", "tooManyRequests", "unavailable"],
  price: streamPrice,
  document: documentedAsStream,
} as const;

/** The events of webhooks, as server-sent events or over a WebSocket. */
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
      const other = Object.keys(body).find((key) => key !== "subscription");
      if (other !== undefined) throw badRequest(unknownKey("request body", other, ["subscription"]));
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

function withBans(subscription: Subscription, bans: "true" | "false" | undefined): Subscription {
  return bans === "true"
    ? { ...subscription, exclude: { ...subscription.exclude, bans: true } }
    : subscription;
}
