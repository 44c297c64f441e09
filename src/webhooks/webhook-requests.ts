import { Type } from "@sinclair/typebox";
import { bodySchemas, checked, schemaReader } from "../management/request-schema.ts";
import { MAX_PREVIEW_EVENTS } from "./preview/previews.ts";
import { type ReplayScope, replayScopes } from "./replay/replay-scope.ts";
import { SubscriptionSchema } from "./subscription-schema.ts";
import { WEBHOOK_FIELDS } from "./webhook-fields.ts";

/** Request bodies for the owner of a webhook. */

export const REPLAYS_PER_SECOND = 20;
export const MAX_REPLAYS_PER_SECOND = 500;

const bodies = { idKey: "webhook_id", fields: WEBHOOK_FIELDS };

export const { create: CreateWebhookRequest, update: UpdateWebhookRequest } = bodySchemas("Webhook", {
  ...bodies,
  others: { subscription: SubscriptionSchema },
});

// `readSubscription` validates the subscription, because its kinds have two spellings.
const unread = bodySchemas("Webhook", { ...bodies, others: { subscription: Type.Unknown() } });
export const readNewWebhook = schemaReader(unread.create);
export const readWebhookChanges = schemaReader(unread.update);

const Secs = (description: string) =>
  checked<number>(Type.Integer({ minimum: 0, description: `${description}, unix seconds` }), (value) =>
    Number.isSafeInteger(value) && Number(value) >= 0 ? undefined : "must be a whole number of unix seconds",
  );

export const ReplayRequest = Type.Object(
  {
    webhook_id: Type.String(),
    message_id: Type.Optional(Type.String({ description: "The `webhook-id` header that the receiver got" })),
    from: Type.Optional(Secs("In place of message_id: the failed and dropped ones queued from then on")),
    to: Type.Optional(Secs("And until then; now when left out")),
    only: Type.Optional(
      checked<ReplayScope>(
        {
          type: "string",
          enum: [...replayScopes],
          description:
            "Starts a replay that runs in the background: of those that `failed` or were dropped, also of `missing` ones, which are events of " +
            "that time that the filter matches and the webhook never had, or of `all`, also of what was delivered",
        },
        (value) =>
          replayScopes.some((scope) => scope === value)
            ? undefined
            : `must be one of ${replayScopes.join(", ")}`,
      ),
    ),
    dry_run: Type.Optional(
      Type.Boolean({ description: "Only count what a replay would send. `only` is `failed` when left out" }),
    ),
    per_second: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_REPLAYS_PER_SECOND,
        description: `How many deliveries it queues a second at most, while the queue of the webhook is short; ${REPLAYS_PER_SECOND} when left out`,
      }),
    ),
  },
  { $id: "ReplayWebhookDeliveriesRequest", additionalProperties: false },
);

export const PreviewRequest = Type.Object(
  {
    subscription: SubscriptionSchema,
    events: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_PREVIEW_EVENTS,
        default: MAX_PREVIEW_EVENTS,
        description: "How many of the newest events",
      }),
    ),
    from: Type.Optional(Secs("Only events that the node applied then or later")),
    to: Type.Optional(Secs("Only events that the node applied then or earlier, of which the newest count")),
  },
  { $id: "PreviewWebhookRequest" },
);

export const TestRequest = Type.Object({ webhook_id: Type.String() }, { $id: "TestWebhookRequest" });
