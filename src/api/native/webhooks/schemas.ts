import { type Static, Type } from "@sinclair/typebox";
import { Name } from "../../../management/request-schema.ts";
import type { Webhook } from "../../../webhooks/store/webhook-store.ts";
import { SubscriptionSchema } from "../../../webhooks/subscription-schema.ts";
import { type DeliverySettings, presentSecret, SendSecret } from "../../shared/management.ts";
import { closed, Fid, nullable, UnixSecs } from "../../shared/schemas.ts";

/** The record of webhooks. */

export const WebhookRecord = Type.Object(
  {
    webhook_id: Type.String({ format: "uuid" }),
    owner_fid: Fid,
    target_url: Type.String(),
    title: Name,
    description: nullable(Type.String()),
    active: Type.Boolean(),
    secrets: Type.Array(SendSecret, { description: "Unexpired secrets, oldest first" }),
    subscription: SubscriptionSchema,
    http_timeout: Type.Integer({ description: "Time limit for the receiver's response, seconds" }),
    rate_limit: Type.Integer({ description: "Deliveries per `rate_limit_duration`" }),
    rate_limit_duration: Type.Integer({ description: "Seconds" }),
    last_success_at: nullable(UnixSecs("When a delivery was last taken")),
    last_failure_at: nullable(UnixSecs("When an attempt last failed")),
    consecutive_failures: Type.Integer({
      minimum: 0,
      description: "Consecutive deliveries whose attempts all failed",
    }),
    queued_deliveries: Type.Integer({ minimum: 0, description: "Waiting for an attempt or in progress" }),
    dropped_deliveries: Type.Integer({
      minimum: 0,
      description: "Deliveries that waited in the queue for too long, or would have",
    }),
    deactivated_at: nullable(UnixSecs("When the node deactivated it by itself")),
    deactivation_reason: nullable(
      Type.String({ description: "Reason of the deactivation; null while the webhook is active" }),
    ),
    created_at: UnixSecs("Creation"),
    updated_at: UnixSecs("Last change"),
  },
  { ...closed, $id: "Webhook" },
);

export const WebhookResponse = Type.Object({ webhook: WebhookRecord }, closed);
export const WebhooksResponse = Type.Object({ webhooks: Type.Array(WebhookRecord) }, closed);

export function presentWebhook(webhook: Webhook, delivery: DeliverySettings): Static<typeof WebhookRecord> {
  const { health } = webhook;
  return {
    webhook_id: webhook.webhookId,
    owner_fid: webhook.ownerFid,
    target_url: webhook.targetUrl,
    title: webhook.title,
    description: webhook.description,
    active: webhook.active,
    secrets: webhook.secrets.map(presentSecret),
    subscription: webhook.subscription,
    http_timeout: delivery.timeoutSecs,
    rate_limit: delivery.rateLimit,
    rate_limit_duration: delivery.rateLimitSecs,
    last_success_at: health.lastSuccessAt,
    last_failure_at: health.lastFailureAt,
    consecutive_failures: health.consecutiveFailures,
    queued_deliveries: health.queued,
    dropped_deliveries: health.dropped,
    deactivated_at: health.deactivatedAt,
    deactivation_reason: health.deactivationReason,
    created_at: webhook.createdAt,
    updated_at: webhook.updatedAt,
  };
}
