import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { MAX_DESCRIPTION_CHARS, MAX_NAME_CHARS } from "../../../management/fields.ts";
import {
  MAX_PROGRAM_SIZE,
  MAX_REGEX_CHARS,
  MAX_UNFILTERED_PROGRAM_SIZE,
} from "../../../webhooks/match/regex-program.ts";
import { eventKinds, MAX_FILTER_ENTRIES } from "../../../webhooks/read-subscription.ts";
import type { Webhook } from "../../../webhooks/store/webhook-store.ts";
import type { Subscription } from "../../../webhooks/subscription.ts";
import { type DeliverySettings, presentSecret, SendSecret } from "../../shared/management.ts";
import { closed, Fid, nullable, UnixSecs } from "../../shared/schemas.ts";

/** Request bodies and the record of webhooks. */

const limited = { maxItems: MAX_FILTER_ENTRIES };
const Fids = Type.Array(Fid, limited);
const Hashes = Type.Array(Type.String({ pattern: "^0x[0-9a-fA-F]{40}$" }), limited);
const Urls = Type.Array(Type.String({ minLength: 1 }), limited);
const Regex = Type.String({
  maxLength: MAX_REGEX_CHARS,
  description:
    `RE2 expression, unanchored, of at most ${MAX_PROGRAM_SIZE} compiled instructions, or ` +
    `${MAX_UNFILTERED_PROGRAM_SIZE} if it requires no literal of two or more characters`,
});

const filterSchemas: Readonly<Record<string, TSchema>> = {
  match: Type.Union([Type.Literal("all"), Type.Literal("any")], {
    description: "Whether every provided field must match (the default) or any; exclusions always apply",
  }),
  author_fids: Fids,
  exclude_author_fids: Fids,
  mentioned_fids: Fids,
  parent_urls: Urls,
  root_parent_urls: Urls,
  parent_hashes: Hashes,
  parent_author_fids: Fids,
  text: Regex,
  embeds: Regex,
  embedded_cast_author_fids: Fids,
  embedded_cast_hashes: Hashes,
  fids: Fids,
  target_fids: Fids,
  target_cast_hashes: Hashes,
};

const SubscriptionObject = Type.Object(
  Object.fromEntries(
    eventKinds.map(({ kind, filters }) => {
      const fields = filters.map((name) => [name, Type.Optional(filterSchemas[name] ?? Type.Unknown())]);
      return [kind, Type.Optional(Type.Object(Object.fromEntries(fields), closed))];
    }),
  ),
  {
    ...closed,
    $id: "Subscription",
    minProperties: 1,
    description:
      "The subscribed event kinds, each with its filter; `{}` means every event of the kind. In requests a " +
      "kind may be written with `_` instead of the dot. An empty list does not filter.",
  },
);
export const SubscriptionSchema = Type.Unsafe<Subscription>(SubscriptionObject);

const Name = Type.String({ minLength: 1, maxLength: MAX_NAME_CHARS, description: "Unicode characters" });
const TargetUrl = Type.String({
  format: "uri",
  description: "Receiver of the events: https, on a public host",
});
const Description = nullable(Type.String({ maxLength: MAX_DESCRIPTION_CHARS }));

export const CreateWebhookRequest = Type.Object(
  {
    name: Name,
    url: TargetUrl,
    description: Type.Optional(Description),
    subscription: SubscriptionSchema,
  },
  { $id: "CreateWebhookRequest" },
);

export const UpdateWebhookRequest = Type.Object(
  {
    webhook_id: Type.String(),
    name: Type.Optional(Name),
    url: Type.Optional(TargetUrl),
    description: Type.Optional(Description),
    active: Type.Optional(Type.Boolean({ description: 'Also accepted as "true" and "false"' })),
    subscription: Type.Optional(SubscriptionSchema),
  },
  { $id: "UpdateWebhookRequest" },
);

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
