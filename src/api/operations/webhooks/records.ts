import { type Static, Type } from "@sinclair/typebox";
import type { Secret } from "../../../db/state/secret.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import { Name } from "../../../management/request-schema.ts";
import type { Webhook } from "../../../webhooks/store/webhook-store.ts";
import type { Subscription } from "../../../webhooks/subscription.ts";
import { SubscriptionSchema } from "../../../webhooks/subscription-schema.ts";
import type { DeliverySettings } from "../../deps.ts";
import { Fid, nullable, object, UnixSecs } from "../../dialects/fields.ts";
import { presentRecord } from "../../respond.ts";
import { presentSecret, SendSecret } from "../account/records.ts";

const WebhookRecord = object(
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
  { $id: "Webhook" },
);

export const WebhookResponse = object({ webhook: WebhookRecord });

export const WebhooksResponse = object({ webhooks: Type.Array(WebhookRecord) });

export function presentWebhook(webhook: Webhook, delivery: DeliverySettings): Static<typeof WebhookRecord> {
  const { health } = webhook;
  return presentRecord(
    WebhookRecord,
    { ...webhook, ...health },
    {
      secrets: webhook.secrets.map(presentSecret),
      http_timeout: delivery.timeoutSecs,
      rate_limit: delivery.rateLimit,
      rate_limit_duration: delivery.rateLimitSecs,
      queued_deliveries: health.queued,
      dropped_deliveries: health.dropped,
    },
  );
}
const Time = (description: string) => Type.String({ format: "date-time", description });

const FarcasterSecret = object(
  {
    uid: Type.String({ format: "uuid" }),
    value: Type.String({ pattern: "^[0-9a-f]{64}$" }),
    expires_at: Time("When it stops to work; the end of the year 9999 while it was not rotated out"),
    created_at: Time("Creation"),
    updated_at: Time("The same moment"),
    deleted_at: Type.Null(),
  },
  { $id: "FarcasterSecret" },
);

const FarcasterWebhook = object(
  {
    object: Type.Literal("webhook"),
    webhook_id: Type.String({ format: "uuid" }),
    developer_uuid: Type.String({ format: "uuid", description: "Derived from the owner's fid" }),
    owner_fid: Fid,
    target_url: Type.String(),
    title: Type.String(),
    description: Type.String({ description: "Empty if the webhook has none" }),
    active: Type.Boolean(),
    secrets: Type.Array(FarcasterSecret, { description: "Unexpired secrets, oldest first" }),
    subscription: object({
      object: Type.Literal("webhook_subscription"),
      subscription_id: Type.String({ format: "uuid", description: "The webhook's own id" }),
      filters: SubscriptionSchema,
      created_at: Time("Creation of the webhook"),
      updated_at: Time("Last change of the webhook"),
    }),
    http_timeout: Type.String({ pattern: "^[0-9]+$", description: "Seconds" }),
    rate_limit: Type.Integer(),
    rate_limit_duration: Type.String({ pattern: "^[0-9]+$", description: "Seconds" }),
    created_at: Time("Creation"),
    updated_at: Time("Last change"),
    deleted_at: nullable(Time("Always null: a deleted webhook is gone")),
  },
  { $id: "FarcasterWebhook" },
);

const success = Type.Literal(true);

export const CompatWebhookResponse = object({ success, webhook: FarcasterWebhook });

export const CompatWebhooksResponse = object({ success, webhooks: Type.Array(FarcasterWebhook) });

export const CompatWebhookDeleted = object({ success, message: Type.String() });

/** Clients of the hosted API require a date here. The value for "never" is the last date that every parser accepts. */
const NEVER = "9999-12-31T23:59:59.999Z";

export function presentCompatWebhook(
  webhook: Webhook,
  delivery: DeliverySettings,
): Static<typeof FarcasterWebhook> {
  const created = isoTime(webhook.createdAt);
  const updated = isoTime(webhook.updatedAt);
  return {
    object: "webhook",
    webhook_id: webhook.webhookId,
    developer_uuid: uuidOf(webhook.ownerFid),
    owner_fid: webhook.ownerFid,
    target_url: webhook.targetUrl,
    title: webhook.title,
    description: webhook.description ?? "",
    active: webhook.active,
    secrets: webhook.secrets.map(presentCompatSecret),
    subscription: {
      object: "webhook_subscription",
      subscription_id: webhook.webhookId,
      filters: withExplicitMatch(withStatedExclusion(webhook.subscription), "all") as Subscription,
      created_at: created,
      updated_at: updated,
    },
    http_timeout: String(delivery.timeoutSecs),
    rate_limit: delivery.rateLimit,
    rate_limit_duration: String(delivery.rateLimitSecs),
    created_at: created,
    updated_at: updated,
    deleted_at: null,
  };
}

function presentCompatSecret({ uid, value, expiresAt, createdAt }: Secret): Static<typeof FarcasterSecret> {
  const created = isoTime(createdAt);
  return {
    uid,
    value,
    expires_at: expiresAt === null ? NEVER : isoTime(expiresAt),
    created_at: created,
    updated_at: created,
    deleted_at: null,
  };
}

/** Encodes an fid in the node part of a UUID of version 8, whose content is defined by the application (RFC 9562). */
function uuidOf(fid: number): string {
  const digits = fid.toString(16).padStart(14, "0");
  return `00000000-0000-8000-80${digits.slice(0, 2)}-${digits.slice(2)}`;
}
/** How the fields of a filter combine by default. */
type Match = "all" | "any";

/**
 * Returns a subscription in which every filter states how its fields combine. The hosted API combines them with "or", this service with
 * "and". Without this step, a filter without `match` would have different meanings in compat requests and in the records of this service.
 *
 * A value that is not an object is returned unchanged, and the service rejects it.
 */
export function withExplicitMatch(subscription: unknown, defaultMatch: Match): unknown {
  if (!isObject(subscription)) return subscription;
  const stated = Object.entries(subscription).map(([kind, filter]) => {
    const isExplicit =
      kind === "exclude" ||
      !isObject(filter) ||
      Object.hasOwn(filter, "match") ||
      Object.keys(filter).length === 0;
    return [kind, isExplicit ? filter : { ...filter, match: defaultMatch }];
  });
  return Object.fromEntries(stated);
}

/**
 * Returns a subscription from a compat request. Like in the hosted API, it excludes events of users banned by the owner unless it says
 * otherwise.
 */
export function withBansExcluded(subscription: unknown): unknown {
  if (!isObject(subscription)) return subscription;
  const { exclude = {} } = subscription;
  return isObject(exclude) ? { ...subscription, exclude: { bans: true, ...exclude } } : subscription;
}

/** The inverse: the record omits the default, and states everything else. */
function withStatedExclusion({ exclude, ...filters }: Subscription): Subscription {
  const { bans = false, fids } = exclude ?? {};
  return bans && fids === undefined ? filters : { ...filters, exclude: { ...exclude, bans } };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
