import { choice, integer, optional, text } from "../../../http/request/params.ts";
import { cursorCodec } from "../../../read/cursor.ts";
import { sentHeaders } from "../../../webhooks/deliver/call-receiver.ts";
import { MAX_REPLAYS } from "../../../webhooks/delivery-service.ts";
import { MAX_PREVIEWS_PER_MINUTE } from "../../../webhooks/preview/previews.ts";
import { replayScopes } from "../../../webhooks/replay/replay-scope.ts";
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
  presentPlan,
  presentPreview,
  presentReplay,
  ReplayReport,
  ReplayResponse,
  StartedReplay,
  StatsResponse,
  TestResponse,
} from "./delivery-responses.ts";

const { signed, signedRead } = topic({ tag: "Webhooks" });

const deliveryCursor = cursorCodec("webhook-deliveries", ["int", "int"]);

const webhookId = text({ description: "The webhook's id" });

const replayId = text({ maxChars: 64, description: "The replay's id" });

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
        q: { type: "text", help: "only those with this id, hash, fid or host" },
        status: { type: "whole", help: "only those whose last response had this status" },
        replay_id: { type: "text", valueName: "<id>", help: "only those of this replay" },
      },
    },
    summary: "Deliveries of a webhook",
    description:
      "Newest first, each with its attempts. A delivery is retained for 7 days after it finished. With `type`, `test`, `q`, `status` or " +
      "`replay_id` a page can have fewer deliveries than `limit`, even none, although `next.cursor` leads to more.",
    query: {
      webhook_id: webhookId,
      state: optional(choice(deliveryStates, { description: "Only deliveries in this state" })),
      type: optional(choice(kinds, { description: "Only deliveries of this kind of event" })),
      from: optional(time("Only deliveries that were queued then or later")),
      to: optional(time("Only deliveries that were queued then or earlier")),
      test: optional(
        choice(["true", "false"], { description: "Only those of tests, or only those of events" }),
      ),
      q: optional(
        text({
          maxChars: 255,
          description:
            "Only those with this message or event id, or whose body has this fid, hash (`0x…`) or the host of a URL",
        }),
      ),
      status: optional(
        integer({ min: 100, max: 599, description: "Only those whose last response had this status" }),
      ),
      replay_id: optional(text({ maxChars: 64, description: "Only those that this replay queued last" })),
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
          text: query.q,
          status: query.status,
          replayId: query.replay_id,
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
      help: "send one delivery again, or those of a period",
      flags: {
        message_id: { type: "text", valueName: "<id>", help: "this delivery" },
        from: {
          type: "time",
          help: "deliveries queued from this time on, such as 2026-05-01T12:00:00Z, or unix seconds",
        },
        to: { type: "time", help: "until this time (default: now)" },
        only: {
          type: "text",
          choices: replayScopes,
          help: "start a replay in the background: of the failed ones, also of missing ones, or of all",
        },
        dry_run: { type: "boolean", help: "only count what a replay would send" },
        per_second: { type: "whole", help: "deliveries of the replay a second at most" },
      },
    },
    summary: "Send deliveries of a webhook again",
    description:
      "One by its `message_id`, or all that failed or were dropped within a time range, oldest first and at most " +
      `${MAX_REPLAYS}. Their \`webhook-id\` does not change, and they get as many attempts as new deliveries. ` +
      "With `only`, `dry_run` or `per_second` a replay runs in the background (202): it waits while the queue of the webhook is long, and ends " +
      "when the webhook is disabled. A header of its deliveries, whose name ends in `-Replay`, has its id. A session may replay " +
      `${MAX_REPLAYS} deliveries at most, and none that were delivered.`,
    body: ReplayRequest,
    response: ReplayResponse,
    accepted: StartedReplay,
    errors: ["forbidden", "notFound"],
    async run({ deliveries }, { fid, body, isByCustody, accept }) {
      const outcome = unwrapOrThrow(await deliveries.replay(fid, body, isByCustody));
      if (!("toSend" in outcome)) return outcome;
      accept();
      return presentPlan(outcome);
    },
  }),
  signedRead({
    id: "getWebhookReplay",
    path: "/webhook/deliveries/replay",
    op: "webhook.read",
    command: { usage: "webhook replay-status <replay_id>", help: "show how far a replay is" },
    summary: "How far a replay is",
    query: { replay_id: replayId },
    response: ReplayReport,
    errors: ["forbidden", "notFound"],
    run: async ({ deliveries }, { fid, query }) =>
      presentReplay(unwrapOrThrow(await deliveries.findReplay(fid, query.replay_id))),
  }),
  signed({
    id: "cancelWebhookReplay",
    method: "DELETE",
    path: "/webhook/deliveries/replay",
    op: "webhook.update",
    session: { access: "operate" },
    maxBodyBytes: ID_ONLY_BYTES,
    command: { usage: "webhook replay-cancel <replay_id>", help: "end a replay" },
    summary: "End a replay",
    description: "What it has queued is still delivered. One that has ended stays as it is.",
    query: { replay_id: replayId },
    response: ReplayReport,
    errors: ["forbidden", "notFound"],
    run: async ({ deliveries }, { fid, query }) =>
      presentReplay(unwrapOrThrow(await deliveries.cancelReplay(fid, query.replay_id))),
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
