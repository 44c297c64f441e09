import { type Static, Type } from "@sinclair/typebox";
import type { SendResult } from "../../../push/send-service.ts";
import { closed, Fid } from "../../shared/schemas.ts";

/** Response bodies of a send. */

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
