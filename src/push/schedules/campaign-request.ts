import { type TSchema, Type } from "@sinclair/typebox";
import { ok, type Result } from "../../lib/result.ts";
import { badField, type Refusal } from "../../management/refusal.ts";
import { schemaReader } from "../../management/request-schema.ts";
import { hostFault } from "../open-links.ts";
import {
  audienceFilters,
  audienceOf,
  nullable,
  readSendRequest,
  type SendRequest,
  SentNotification,
  TargetFids,
} from "../send-request.ts";
import type { Audience } from "../store/campaigns/campaign-store.ts";
import { planOf, type SchedulePlan, scheduleFields } from "./plan.ts";

const { exclude_fids, following_fid } = audienceFilters;
const recipients = {
  app_id: Type.String({ description: "The app's id" }),
  target_fids: Type.Optional(TargetFids),
  exclude_fids,
  following_fid,
  segment_id: Type.Optional(
    nullable<string>(
      Type.String({ description: "Only people of this saved segment, as they are when it is sent" }),
      (value) => (typeof value === "string" ? undefined : "must be a string or null"),
    ),
  ),
} satisfies Record<string, TSchema>;

/** A send by the app's owner. */
export const SendCampaignRequest = Type.Object(
  { ...recipients, notification: SentNotification, ...scheduleFields },
  { $id: "SendCampaignRequest" },
);

/** The same body, of which an estimate uses the audience and, to find who already has the notification, the `uuid`. */
export const EstimateRequest = Type.Object(
  { ...recipients, notification: Type.Optional(SentNotification) },
  { $id: "EstimateCampaignRequest" },
);

const readCampaignBody = schemaReader(SendCampaignRequest);
const readEstimateBody = schemaReader(EstimateRequest);

/** The input of an estimate. */
export interface EstimatedSend {
  readonly audience: Audience;
  /** A segment whose conditions are not yet part of the audience. */
  readonly segmentId: string | null;
  /** Undefined if no token can have the notification yet. */
  readonly uuid: string | undefined;
}

/** A validated send by the app's owner. */
export interface CampaignRequest extends SendRequest {
  readonly segmentId: string | null;
  readonly plan: SchedulePlan;
}

/** Reads the body of an estimate for the app at `appUrl`; a refusal names the field. */
export function readEstimateRequest(body: unknown, appUrl: string): Result<EstimatedSend, Refusal> {
  const read = readEstimateBody(body);
  if (!read.ok) return read;
  const { notification, app_id: _, segment_id: segmentId = null, ...audience } = read.value;
  if (notification === undefined) return ok({ audience: audienceOf(audience), segmentId, uuid: undefined });
  const send = readSendRequest(body, appUrl);
  return send.ok ? ok({ audience: send.value.audience, segmentId, uuid: send.value.uuid }) : send;
}

/** Reads the body of a send by the owner of the app at `appUrl`; a refusal names the field. */
export function readCampaignRequest(
  body: unknown,
  appUrl: string,
  nowSecs: number,
): Result<CampaignRequest, Refusal> {
  const send = readSendRequest(body, appUrl);
  if (!send.ok) return send;
  const read = readCampaignBody(body);
  if (!read.ok) return read;
  const plan = planOf(read.value, nowSecs);
  if (!plan.ok) return plan;
  const { variants, isScheduled } = plan.value;
  for (const [at, { target_url: url }] of variants.entries()) {
    const fault = url === undefined ? undefined : hostFault(url, appUrl);
    if (fault !== undefined) return badField(`variants[${at}].target_url ${fault}`);
  }
  if (isScheduled && send.value.uuid !== undefined)
    return badField("notification.uuid cannot be set: the id of a scheduled send is its schedule_id");
  return ok({ ...send.value, segmentId: read.value.segment_id ?? null, plan: plan.value });
}
