import { choice, integer, optional, text } from "../../../http/request/params.ts";
import { cursorCodec } from "../../../read/cursor.ts";
import { sentHeaders } from "../../../webhooks/deliver/call-receiver.ts";
import { MAX_REPLAYS } from "../../../webhooks/delivery-service.ts";
import { MAX_PREVIEWS_PER_MINUTE } from "../../../webhooks/preview/previews.ts";
import { DELIVERY_RETENTION_SECS } from "../../../webhooks/store/attempt-stats.ts";
import { deliveryStates } from "../../../webhooks/store/delivery-log.ts";
import { PreviewRequest, ReplayRequest, TestRequest } from "../../../webhooks/webhook-requests.ts";
import { page } from "../../dialects/native.ts";
import { decodeCursor, unwrapOrThrow } from "../../respond.ts";
import { ID_ONLY_BYTES, READ_SESSION, topic } from "../../topic.ts";
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

const { signed, signedRead } = topic({ tag: "Webhooks" });

const deliveryCursor = cursorCodec("webhook-deliveries", ["int", "int"]);

const webhookId = text({ description: "The webhook's id" });

const time = (description: string) =>
  integer({ min: 0, max: Number.MAX_SAFE_INTEGER, description: `${description}, unix seconds` });

export const deliveryOperations = [
  signedRead({
    id: "listWebhookDeliveries",
    path: "/webhook/deliveries",
    op: "webhook.read",
    command: {
      usage: "webhook deliveries <webhook_id>",
      help: "list the deliveries of the webhook, newest first",
      flags: {
        from: { type: "time", help: "only those queued from this time on" },
        to: { type: "time", help: "only those queued until this time" },
        test: { type: "boolean", help: "only those of tests", offHelp: "none of tests" },
      },
    },
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
      ...page(),
    },
    response: DeliveriesResponse,
    errors: ["forbidden", "notFound"],
    run: async ({ deliveries }, { fid, query }) => {
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
  }),
  signedRead({
    id: "getWebhookDelivery",
    path: "/webhook/delivery",
    op: "webhook.read",
    command: {
      usage: "webhook delivery <webhook_id> <message_id>",
      help: "show one delivery with its attempts and what is sent",
    },
    summary: "One delivery of a webhook, with what is sent",
    description:
      "The body is that of every attempt, the headers are those of the last one. Signatures are masked.",
    query: {
      webhook_id: webhookId,
      message_id: text({ description: "The `webhook-id` header that the receiver got" }),
    },
    response: DeliveryResponse,
    errors: ["forbidden", "notFound"],
    run: async ({ deliveries, sender }, { fid, query }) => {
      const { delivery, body, webhook } = unwrapOrThrow(
        await deliveries.find(fid, query.webhook_id, query.message_id),
      );
      const headers = sentHeaders({ delivery, webhook, sender });
      return { delivery: presentDelivery(delivery), request: { headers, body } };
    },
  }),
  signedRead({
    id: "getWebhookStats",
    path: "/webhook/stats",
    op: "webhook.read",
    command: {
      usage: "webhook stats <webhook_id>",
      help: "count what was delivered and what failed, with the durations of attempts",
    },
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
    run: async ({ deliveries }, { fid, query }) => {
      const stats = unwrapOrThrow(await deliveries.stats(fid, query.webhook_id, query.hours));
      return { step_secs: stats.stepSecs, buckets: stats.buckets.map(presentBucket) };
    },
  }),
  signed({
    id: "previewWebhook",
    method: "POST",
    path: "/webhook/preview",
    op: "webhook.read",
    session: READ_SESSION,
    command: {
      usage: "webhook preview",
      help: "try a subscription on the newest events of the node; sends nothing",
      flags: {
        from: { type: "time", help: "only events of this time on" },
        to: { type: "time", help: "only events until this time" },
      },
    },
    summary: "Try a subscription on the newest events",
    description:
      "Matches a subscription against the events that the node still has, the newest first, or those of `from` to `to`, as for deliveries; nothing is sent. " +
      `An fid may ask ${MAX_PREVIEWS_PER_MINUTE} times a minute. A preview ends after 2 seconds with what it has seen until then.`,
    body: PreviewRequest,
    response: PreviewResponse,
    errors: ["tooManyRequests"],
    run: async ({ deliveries }, { fid, body }) =>
      presentPreview(unwrapOrThrow(await deliveries.preview(fid, body))),
  }),
  signed({
    id: "replayWebhookDeliveries",
    method: "POST",
    path: "/webhook/deliveries/replay",
    op: "webhook.update",
    session: { access: "operate" },
    maxBodyBytes: ID_ONLY_BYTES,
    command: {
      usage: "webhook replay <webhook_id>",
      help: "send one delivery again, or the failed ones of a period",
      flags: {
        message_id: { type: "text", valueName: "<id>", help: "this delivery" },
        from: {
          type: "time",
          help: "deliveries queued from this time on, such as 2026-05-01T12:00:00Z, or unix seconds",
        },
        to: { type: "time", help: "until this time (default: now)" },
      },
    },
    summary: "Send deliveries of a webhook again",
    description:
      "One by its `message_id`, or all that failed or were dropped within a time range, oldest first and at most " +
      `${MAX_REPLAYS}. Their \`webhook-id\` does not change, and they get as many attempts as new deliveries.`,
    body: ReplayRequest,
    response: ReplayResponse,
    errors: ["forbidden", "notFound"],
    run: async ({ deliveries }, { fid, body }) => unwrapOrThrow(await deliveries.replay(fid, body)),
  }),
  signed({
    id: "testWebhook",
    method: "POST",
    path: "/webhook/test",
    op: "webhook.update",
    session: { access: "operate" },
    maxBodyBytes: ID_ONLY_BYTES,
    command: {
      usage: "webhook test <webhook_id>",
      help: "send the webhook a made-up event of each subscribed kind",
    },
    summary: "Send a test event of each subscribed kind to a webhook",
    description:
      "Test events about the owner pass through the same queue and are signed like all others; their body has " +
      "`test: true`. Filters do not apply to them.",
    body: TestRequest,
    response: TestResponse,
    errors: ["forbidden", "notFound", "tooManyRequests"],
    run: async ({ deliveries }, { fid, body }) => {
      const queued = unwrapOrThrow(await deliveries.test(fid, body));
      return { deliveries: queued.map(({ messageId, kind }) => ({ message_id: messageId, type: kind })) };
    },
  }),
];
