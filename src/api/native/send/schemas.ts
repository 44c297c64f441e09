import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { MAX_BODY_CHARS, MAX_TARGET_URL_CHARS, MAX_TITLE_CHARS } from "../../../push/send-request.ts";
import type { SendResult } from "../../../push/send-service.ts";
import { closed, Fid, nullable } from "../../shared/schemas.ts";

/** Request and response bodies of a send. */

const Characters = (max: number, description: string) =>
  Type.String({ minLength: 1, maxLength: max, description });

export const SentNotification = Type.Object({
  title: Characters(MAX_TITLE_CHARS, "Unicode characters"),
  body: Characters(MAX_BODY_CHARS, "Unicode characters"),
  target_url: Characters(MAX_TARGET_URL_CHARS, "https, on the host of the app's `app_url`"),
  uuid: Type.Optional(
    nullable(
      Type.String({
        description:
          "Any UUID. A user receives the same UUID of an app only once within 24 hours, so a send can be repeated safely.",
      }),
    ),
  ),
});

export const TargetFids = Type.Array(Fid, {
  description: "Recipients; empty or absent for all users with an enabled token",
});

/** Filters of the audience; the hosted API has them in a nested object. */
export const audienceFilters = {
  exclude_fids: Type.Optional(Type.Array(Fid, { description: "Fids that do not receive the notification" })),
  following_fid: Type.Optional(
    nullable(
      Type.Integer({
        format: "int64",
        minimum: 0,
        description: "Only followers of this fid receive the notification",
      }),
    ),
  ),
  minimum_user_score: Type.Optional(nullable(Type.Number({ description: "Accepted but not enforced" }))),
  near_location: Type.Optional(Type.Unknown({ description: "Accepted but not enforced" })),
} satisfies Record<string, TSchema>;

export const SendNotificationRequest = Type.Object(
  { notification: SentNotification, target_fids: Type.Optional(TargetFids), ...audienceFilters },
  { $id: "SendNotificationRequest" },
);

const CampaignId = Type.String({ format: "uuid" });
const Count = (description: string) => Type.Integer({ minimum: 0, description });

export const sendCounts = {
  campaign_id: CampaignId,
  success_count: Count("Tokens whose client confirmed"),
  failure_count: Count("Tokens that failed, rate-limited ones included"),
  not_attempted_count: Count("Tokens left out by a filter, or that have this notification already"),
  retryable_fids: Type.Array(Fid, { description: "Fids with a rate-limited token, ascending" }),
};

export const SendNotificationResult = Type.Object(sendCounts, { ...closed, $id: "SendNotificationResult" });

export const QueuedCampaign = Type.Object(
  { campaign_id: CampaignId, status: Type.Literal("queued") },
  {
    ...closed,
    $id: "QueuedCampaign",
    description: "The campaign is stored and continues; `/frame/app/campaign` returns its progress",
  },
);

export function presentResult(
  campaignId: string,
  { counts, retryableFids }: SendResult,
): Static<typeof SendNotificationResult> {
  return {
    campaign_id: campaignId,
    success_count: counts.success,
    failure_count: counts.failure,
    not_attempted_count: counts.notAttempted,
    retryable_fids: [...retryableFids],
  };
}

export function presentQueued(campaignId: string): Static<typeof QueuedCampaign> {
  return { campaign_id: campaignId, status: "queued" };
}
