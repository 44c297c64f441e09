import { type Static, Type } from "@sinclair/typebox";
import { isoTime } from "../../../lib/iso-time.ts";
import { audienceFilters, SentNotification, TargetFids } from "../../../push/send-request.ts";
import type { SendResult } from "../../../push/send-service.ts";
import type { CampaignWithTotals } from "../../../push/sender-view.ts";
import type { CampaignStatus } from "../../../push/store/campaigns/campaign-store.ts";
import type { TokenResult } from "../../../push/store/campaigns/notification-ledger.ts";
import type { ListedToken } from "../../../push/tokens/transfer/token-file.ts";
import { type Assignable, Count, Fid, Next, nullable, object } from "../../dialects/fields.ts";
import { presentResult, sendCounts } from "./send.ts";

const Time = (description: string) => Type.String({ format: "date-time", description });

const CountByAppFid = (description: string) => Type.Record(Type.String(), Count, { description });

/** 0 for client apps whose signing keys have no fid. */
const AppFid = Type.Integer({ format: "int64", minimum: 0 });

export const CompatSendRequest = Type.Object(
  {
    notification: SentNotification,
    target_fids: Type.Optional(TargetFids),
    filters: Type.Optional(Type.Object(audienceFilters)),
  },
  { $id: "FarcasterSendRequest" },
);

const deliveryStatuses = [
  "success",
  "failed",
  "http_error",
  "invalid_target_url",
  "invalid_token",
  "rate_limited",
] as const;

export const CompatSendResult = object(
  {
    ...sendCounts,
    notification_deliveries: Type.Optional(
      Type.Array(
        object({
          object: Type.Literal("notification_delivery"),
          fid: Fid,
          app_fid: AppFid,
          status: Type.Unsafe<(typeof deliveryStatuses)[number]>({
            type: "string",
            enum: [...deliveryStatuses],
          }),
        }),
        { description: "One entry for each token that was sent to, if there are at most 100" },
      ),
    ),
  },
  { $id: "FarcasterSendResult" },
);

const statuses = ["queued", "running", "completed", "failed"] as const;

const FarcasterCampaign = object(
  {
    id: Type.String({ format: "uuid" }),
    title: Type.String(),
    body: Type.String(),
    status: Type.Unsafe<(typeof statuses)[number]>({ type: "string", enum: [...statuses] }),
    created_at: Time("When it was accepted"),
    queued_at: Time("Same as `created_at`"),
    completed_at: nullable(Time("When it finished")),
    stats: object({
      intended_recipient_app_fids: Type.Array(AppFid, {
        description: "Client apps whose tokens were sent to, at most 100",
      }),
      intended_recipient_notification_token_count: Count,
      successful_sends: Count,
      successful_sends_by_app_fid: CountByAppFid("The same client apps"),
      error_breakdown: object({
        delivery_errors: Type.Record(Type.String(), Count),
        http_errors: Type.Record(Type.String(), Count, { description: "By status" }),
      }),
      total_opens: Type.Literal(0, { description: "Opens are not tracked" }),
      total_opens_by_app_fid: CountByAppFid("Always empty"),
      unique_opens: Type.Literal(0),
      unique_opens_by_app_fid: CountByAppFid("Always empty"),
    }),
  },
  { $id: "FarcasterCampaign" },
);

export const CompatCampaigns = object({ notificationCampaigns: Type.Array(FarcasterCampaign), next: Next });

const FarcasterToken = object(
  {
    object: Type.Literal("notification_token"),
    fid: Fid,
    status: Type.Union([Type.Literal("enabled"), Type.Literal("disabled")]),
    url: Type.Optional(Type.String({ description: "Absent if the app was added without notifications" })),
    token: Type.Optional(Type.String({ description: "As `url`" })),
    created_at: Time("First event"),
    updated_at: Time("Last event"),
  },
  { $id: "FarcasterToken" },
);

export const CompatTokens = object({ notification_tokens: Type.Array(FarcasterToken), next: Next });

export function presentSend(campaignId: string, result: SendResult): Static<typeof CompatSendResult> {
  const counts = presentResult(campaignId, result);
  return result.results
    ? { ...counts, notification_deliveries: result.results.map(presentTokenDelivery) }
    : counts;
}

function presentTokenDelivery(settlement: TokenResult) {
  const { fid, clientFid } = settlement;
  const status = statusOf(settlement);
  return { object: "notification_delivery" as const, fid, app_fid: clientFid, status };
}

function statusOf({ kind, reason }: TokenResult): (typeof deliveryStatuses)[number] {
  if (kind === "success") return "success";
  if (HTTP_REASON.test(reason)) return "http_error";
  if (reason === "failed_domain_mismatch" || reason === "failed_target_url_mismatch") {
    return "invalid_target_url";
  }
  return reason === "invalid_token" || reason === "rate_limited" ? reason : "failed";
}

/** Reason of a failure that the client's host reported as an HTTP status. */
const HTTP_REASON = /^http_(\d{3})$/;

export function presentCompatCampaign(campaign: CampaignWithTotals): Static<typeof FarcasterCampaign> {
  const { campaignId, notification, status, counts, createdAt, endedAt, totals } = campaign;
  const createdTime = isoTime(createdAt);
  return {
    id: campaignId,
    title: notification.title,
    body: notification.body,
    status: compatStatusOf(status),
    created_at: createdTime,
    queued_at: createdTime,
    completed_at: endedAt === null ? null : isoTime(endedAt),
    stats: {
      intended_recipient_app_fids: totals.byClient.map(({ clientFid }) => clientFid),
      intended_recipient_notification_token_count: counts.success + counts.failure + counts.notAttempted,
      successful_sends: counts.success,
      successful_sends_by_app_fid: Object.fromEntries(
        totals.byClient.map(({ clientFid, successes }) => [String(clientFid), successes]),
      ),
      error_breakdown: presentErrors(totals.byReason),
      total_opens: 0,
      total_opens_by_app_fid: {},
      unique_opens: 0,
      unique_opens_by_app_fid: {},
    },
  };
}

/** Maps a campaign's status. This node aborts campaigns that it cannot complete. */
function compatStatusOf(status: CampaignStatus): (typeof statuses)[number] {
  return status === "aborted" ? "failed" : status;
}

function presentErrors(byReason: CampaignWithTotals["totals"]["byReason"]) {
  const deliveryErrors: Record<string, number> = {};
  const httpErrors: Record<string, number> = {};
  for (const { kind, reason, count } of byReason) {
    if (kind !== "failure") continue;
    const [, status] = HTTP_REASON.exec(reason) ?? [];
    if (status === undefined) deliveryErrors[reason] = count;
    else httpErrors[status] = count;
  }
  return { delivery_errors: deliveryErrors, http_errors: httpErrors };
}

/** Compile-time check that the objects of a list and their schema have the same type. */
export type TokenTypeCheck = Assignable<ListedToken, Static<typeof FarcasterToken>>;
