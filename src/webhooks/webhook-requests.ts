import { Type } from "@sinclair/typebox";
import { checked, Description, Name, Url } from "../management/request-schema.ts";
import { MAX_PREVIEW_EVENTS } from "./preview/previews.ts";
import { SubscriptionSchema } from "./subscription-schema.ts";

/** Bodies of the requests of a webhook's owner. */

const TargetUrl = Url("Receiver of the events: https, on a public host");

/** Some clients send the booleans as text. */
const Active = checked<boolean | "true" | "false">(
  { type: "boolean", description: 'Also accepted as "true" and "false"' },
  (value) =>
    typeof value === "boolean" || value === "true" || value === "false" ? undefined : "must be true or false",
);

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
    active: Type.Optional(Active),
    subscription: Type.Optional(SubscriptionSchema),
  },
  { $id: "UpdateWebhookRequest" },
);

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
  },
  { $id: "ReplayWebhookDeliveriesRequest" },
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
  },
  { $id: "PreviewWebhookRequest" },
);

export const TestRequest = Type.Object({ webhook_id: Type.String() }, { $id: "TestWebhookRequest" });
