import type { AnyElysia } from "elysia";
import { createSignedRoutes } from "../../../auth/signed-routes.ts";
import type { AuthDeps } from "../../../auth/verify.ts";
import { choice, cursor, integer, limit, optional, text } from "../../../http/params.ts";
import { cursorCodec } from "../../../read/cursor.ts";
import { type SenderSettings, sentHeaders } from "../../../webhooks/deliver/sent-headers.ts";
import { type DeliveryService, MAX_REPLAYS } from "../../../webhooks/delivery-service.ts";
import { MAX_PREVIEWS_PER_MINUTE } from "../../../webhooks/preview/previews.ts";
import { DELIVERY_RETENTION_SECS, deliveryStates } from "../../../webhooks/store/delivery-log.ts";
import { PreviewRequest, ReplayRequest, TestRequest } from "../../../webhooks/webhook-requests.ts";
import { decodeCursor } from "../../shared/cursor-param.ts";
import { unwrapOrThrow } from "../../shared/management.ts";
import {
  DeliveriesResponse,
  DeliveryResponse,
  kinds,
  PreviewResponse,
  presentBucket,
  presentDelivery,
  presentPreview,
  ReplayResponse,
  StatsResponse,
  TestResponse,
} from "./delivery-responses.ts";

const deliveryCursor = cursorCodec("webhook-deliveries", ["int", "int"]);

const webhookId = text({ description: "The webhook's id" });
const time = (description: string) =>
  integer({ min: 0, max: Number.MAX_SAFE_INTEGER, description: `${description}, unix seconds` });

/** `/webhook/deliveries`, `/webhook/preview` and their kin: the deliveries of a webhook, for its owner. */
export function webhookDeliveryRoutes(deps: {
  readonly auth: AuthDeps;
  readonly deliveries: DeliveryService;
  readonly sender: SenderSettings;
}): AnyElysia {
  const { auth, deliveries } = deps;
  const routes = createSignedRoutes(auth, { name: "webhook-deliveries", tag: "Webhooks" });

  routes.add(
    "listWebhookDeliveries",
    {
      summary: "Deliveries of a webhook",
      description:
        "Newest first, each with its attempts. A delivery is retained for 7 days after it finished. With `type` or `test` a page can " +
        "have fewer deliveries than `limit`, even none, although `next.cursor` leads to more.",
      query: {
        webhook_id: webhookId,
        state: optional(choice(deliveryStates, { description: "Only deliveries in this state" })),
        type: optional(choice(kinds, { description: "Only deliveries of this kind of event" })),
        from: optional(time("Only deliveries that were queued then or later")),
        to: optional(time("Only deliveries that were queued then or earlier")),
        test: optional(
          choice(["true", "false"], { description: "Only those of tests, or only those of events" }),
        ),
        limit: limit(),
        cursor: cursor(),
      },
      response: DeliveriesResponse,
      errors: ["forbidden", "notFound"],
    },
    async ({ fid, query }) => {
      const [createdAt, seq] = decodeCursor(deliveryCursor, query.cursor) ?? [];
      const after = createdAt === undefined || seq === undefined ? undefined : { createdAt, seq };
      const page = unwrapOrThrow(
        await deliveries.list(fid, {
          webhookId: query.webhook_id,
          state: query.state,
          kind: query.type,
          fromSecs: query.from,
          toSecs: query.to,
          isTest: query.test === undefined ? undefined : query.test === "true",
          after,
          max: query.limit,
        }),
      );
      const { next } = page;
      return {
        deliveries: page.deliveries.map(presentDelivery),
        next: { cursor: next ? deliveryCursor.encode([next.createdAt, next.seq]) : null },
      };
    },
  );

  routes.add(
    "getWebhookDelivery",
    {
      summary: "One delivery of a webhook, with what is sent",
      description:
        "The body is that of every attempt, the headers are those of the last one. Signatures are masked.",
      query: {
        webhook_id: webhookId,
        message_id: text({ description: "The `webhook-id` header that the receiver got" }),
      },
      response: DeliveryResponse,
      errors: ["forbidden", "notFound"],
    },
    async ({ fid, query }) => {
      const { delivery, body, webhook } = unwrapOrThrow(
        await deliveries.find(fid, query.webhook_id, query.message_id),
      );
      const headers = sentHeaders({ delivery, webhook, sender: deps.sender });
      return { delivery: presentDelivery(delivery), request: { headers, body } };
    },
  );

  routes.add(
    "getWebhookStats",
    {
      summary: "How the deliveries of a webhook went over time",
      description:
        "Steps of 5 minutes for up to 12 hours, of 15 minutes for up to 48, else of an hour. Durations are those of attempts, " +
        "exact to a tenth.",
      query: {
        webhook_id: webhookId,
        hours: optional(
          integer({ min: 1, max: DELIVERY_RETENTION_SECS / 3600, description: "How far back" }),
          24,
        ),
      },
      response: StatsResponse,
      errors: ["forbidden", "notFound"],
    },
    async ({ fid, query }) => {
      const stats = unwrapOrThrow(await deliveries.stats(fid, query.webhook_id, query.hours));
      return { step_secs: stats.stepSecs, buckets: stats.buckets.map(presentBucket) };
    },
  );

  routes.add(
    "previewWebhook",
    {
      summary: "Try a subscription on the newest events",
      description:
        "Matches a subscription against the events that the node still has, the newest first, as for deliveries; nothing is sent. " +
        `An fid may ask ${MAX_PREVIEWS_PER_MINUTE} times a minute. A preview ends after 2 seconds with what it has seen until then.`,
      body: PreviewRequest,
      response: PreviewResponse,
      errors: ["tooManyRequests"],
    },
    async ({ fid, body }) => presentPreview(unwrapOrThrow(await deliveries.preview(fid, body))),
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
