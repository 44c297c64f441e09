import { type Static, Type } from "@sinclair/typebox";
import type { AnyElysia } from "elysia";
import { createSignedRoutes } from "../../../auth/signed-routes.ts";
import type { AuthDeps } from "../../../auth/verify.ts";
import { choice, cursor, limit, optional, text } from "../../../http/params.ts";
import type { EventKind } from "../../../protocol/event-kind.ts";
import { cursorCodec, cutPage } from "../../../read/cursor.ts";
import { type DeliveryService, MAX_REPLAYS } from "../../../webhooks/delivery-service.ts";
import {
  type DeliveryState,
  deliveryStates,
  type LoggedDelivery,
} from "../../../webhooks/store/delivery-log.ts";
import type { Attempt } from "../../../webhooks/store/delivery-queue.ts";
import { eventKinds } from "../../../webhooks/subscription-schema.ts";
import { ReplayRequest, TestRequest } from "../../../webhooks/webhook-requests.ts";
import { decodeCursor } from "../../shared/cursor-param.ts";
import { unwrapOrThrow } from "../../shared/management.ts";
import { closed, Next, nullable, UnixSecs } from "../../shared/schemas.ts";

const Kind = Type.Unsafe<EventKind>({ type: "string", enum: eventKinds.map(({ kind }) => kind) });
const MessageId = Type.String({ description: "The `webhook-id` header that the receiver got" });

const WebhookAttempt = Type.Object(
  {
    attempted_at: UnixSecs("When it began"),
    status: nullable(Type.Integer({ description: "Status of the response" })),
    error: nullable(Type.String({ description: "Error class if there was no response" })),
    duration_ms: Type.Integer({ minimum: 0 }),
    response: Type.String({ description: "The first 2 KB of the response body" }),
  },
  { ...closed, $id: "WebhookAttempt" },
);

const WebhookDelivery = Type.Object(
  {
    message_id: MessageId,
    event_id: Type.String({ description: "The same for all webhooks that the event matched" }),
    type: Kind,
    test: Type.Boolean({ description: "Whether the event was created by a test" }),
    state: Type.Unsafe<DeliveryState>({
      type: "string",
      enum: [...deliveryStates],
      description: "`dropped`: the delivery waited in the queue for too long",
    }),
    created_at: UnixSecs("When it was queued"),
    next_attempt_at: nullable(UnixSecs("When it is tried next; null also while it is tried")),
    ended_at: nullable(UnixSecs("When the delivery succeeded or was given up")),
    attempts: Type.Array(WebhookAttempt, { description: "Oldest first, at most the last 20" }),
  },
  { ...closed, $id: "WebhookDelivery" },
);

const DeliveriesResponse = Type.Object({ deliveries: Type.Array(WebhookDelivery), next: Next }, closed);

const ReplayResponse = Type.Object(
  {
    replayed: Type.Integer({ minimum: 0, maximum: MAX_REPLAYS }),
    more: Type.Boolean({ description: "Whether the time range may contain more" }),
  },
  closed,
);

const TestResponse = Type.Object(
  { deliveries: Type.Array(Type.Object({ message_id: MessageId, type: Kind }, closed)) },
  closed,
);

const deliveryCursor = cursorCodec("webhook-deliveries", ["int", "int"]);

/** `/webhook/deliveries` and `/webhook/test`: the deliveries of a webhook, for its owner. */
export function webhookDeliveryRoutes(deps: {
  readonly auth: AuthDeps;
  readonly deliveries: DeliveryService;
}): AnyElysia {
  const { auth, deliveries } = deps;
  const routes = createSignedRoutes(auth, { name: "webhook-deliveries", tag: "Webhooks" });

  routes.add(
    "listWebhookDeliveries",
    {
      summary: "Deliveries of a webhook",
      description:
        "Newest first, each with its attempts. A delivery is retained for 7 days after it finished.",
      query: {
        webhook_id: text({ description: "The webhook's id" }),
        state: optional(choice(deliveryStates, { description: "Only deliveries in this state" })),
        limit: limit(),
        cursor: cursor(),
      },
      response: DeliveriesResponse,
      errors: ["forbidden", "notFound"],
    },
    async ({ fid, query }) => {
      const [createdAt, seq] = decodeCursor(deliveryCursor, query.cursor) ?? [];
      const after = createdAt === undefined || seq === undefined ? undefined : { createdAt, seq };
      const found = unwrapOrThrow(
        await deliveries.list(fid, {
          webhookId: query.webhook_id,
          state: query.state,
          after,
          max: query.limit + 1,
        }),
      );
      const page = cutPage(found, query.limit, (last) => deliveryCursor.encode([last.createdAt, last.seq]));
      return { deliveries: page.rows.map(presentDelivery), next: { cursor: page.cursor } };
    },
  );

  routes.add(
    "replayWebhookDeliveries",
    {
      summary: "Send deliveries of a webhook again",
      description:
        "One by its `message_id`, or all that failed or were dropped within a time range, oldest first and at most " +
        `${MAX_REPLAYS}. Their \`webhook-id\` does not change, and they get as many attempts as new deliveries.`,
      body: ReplayRequest,
      response: ReplayResponse,
      errors: ["forbidden", "notFound"],
    },
    async ({ fid, body }) => unwrapOrThrow(await deliveries.replay(fid, body)),
  );

  routes.add(
    "testWebhook",
    {
      summary: "Send a test event of each subscribed kind to a webhook",
      description:
        "Test events about the owner pass through the same queue and are signed like all others; their body has " +
        "`test: true`. Filters do not apply to them.",
      body: TestRequest,
      response: TestResponse,
      errors: ["forbidden", "notFound", "tooManyRequests"],
    },
    async ({ fid, body }) => {
      const queued = unwrapOrThrow(await deliveries.test(fid, body));
      return { deliveries: queued.map(({ messageId, kind }) => ({ message_id: messageId, type: kind })) };
    },
  );

  return routes.plugin;
}

function presentDelivery(delivery: LoggedDelivery): Static<typeof WebhookDelivery> {
  const { nextAttemptAtMs } = delivery;
  return {
    message_id: delivery.messageId,
    event_id: delivery.eventId,
    type: delivery.kind,
    test: delivery.isTest,
    state: delivery.state,
    created_at: delivery.createdAt,
    next_attempt_at: nextAttemptAtMs === null ? null : Math.ceil(nextAttemptAtMs / 1000),
    ended_at: delivery.endedAt,
    attempts: delivery.attempts.map(presentAttempt),
  };
}

function presentAttempt({
  atMs,
  status,
  error,
  durationMs,
  responseText,
}: Attempt): Static<typeof WebhookAttempt> {
  return {
    attempted_at: Math.floor(atMs / 1000),
    status,
    error,
    duration_ms: durationMs,
    response: responseText,
  };
}
