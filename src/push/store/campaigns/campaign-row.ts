import type { Row } from "../../../db/state/table.ts";
import type { campaigns } from "../tables.ts";
import type { Campaign } from "./campaign-store.ts";

const COLUMNS = [
  "seq",
  "campaign_id",
  "app_id",
  "notification_id",
  "title",
  "body",
  "target_url",
  "status",
  "success_count",
  "failure_count",
  "not_attempted_count",
  "audience_count",
  "created_at",
  "started_at",
  "ended_at",
  "schedule",
] as const;
/** The columns of a campaign, for a statement. */
export const campaignColumns = COLUMNS.join(", ");

export type CampaignRow = Row<typeof campaigns, (typeof COLUMNS)[number]>;

export function toCampaign(row: CampaignRow): Campaign {
  return {
    seq: row.seq,
    campaignId: row.campaign_id,
    appId: row.app_id,
    notification: {
      notificationId: row.notification_id,
      title: row.title,
      body: row.body,
      targetUrl: row.target_url,
    },
    status: row.status,
    counts: {
      success: row.success_count,
      failure: row.failure_count,
      notAttempted: row.not_attempted_count,
    },
    audienceCount: row.audience_count,
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    schedule: row.schedule,
  };
}
