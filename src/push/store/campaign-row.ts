import type { Audience, Campaign, CampaignStatus, CampaignWork } from "./campaign-store.ts";

/** A row of `campaigns` with the columns of `campaignColumns`. */
export interface CampaignRow {
  readonly seq: number;
  readonly campaign_id: string;
  readonly app_id: string;
  readonly notification_id: string;
  readonly title: string;
  readonly body: string;
  readonly target_url: string;
  readonly status: CampaignStatus;
  readonly success_count: number;
  readonly failure_count: number;
  readonly not_attempted_count: number;
  readonly audience_count: number | null;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly ended_at: number | null;
}

/** The row of a campaign before a run, with what the run needs. */
export interface WorkRow extends CampaignRow {
  readonly dedupe_key: number;
  readonly audience: string;
  readonly ledger_ends_at: number;
  readonly runner: string | null;
  readonly epoch: number;
  readonly runs: number;
}

export const campaignColumns = `seq, campaign_id, app_id, notification_id, title, body, target_url, status, success_count,
  failure_count, not_attempted_count, audience_count, created_at, started_at, ended_at`;

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
  };
}

/**
 * The work of the run that starts.
 *
 * @param row the campaign before the run
 * @param bootId the process that runs it
 * @param nowSecs by the state's clock
 */
export function toWork(row: WorkRow, bootId: string, nowSecs: number): CampaignWork {
  const { campaignId, appId, notification, createdAt } = toCampaign(row);
  const audience: Audience = JSON.parse(row.audience);
  const wasElsewhere = row.started_at !== null || row.runner !== bootId;
  return {
    seq: row.seq,
    epoch: row.epoch + 1,
    runs: row.runs + 1,
    campaignId,
    appId,
    notification,
    createdAt,
    audience,
    isTakenOver: row.runner !== null && row.runner !== bootId,
    ledgerKey: row.dedupe_key,
    isLedgerExpired: wasElsewhere && row.ledger_ends_at <= nowSecs,
  };
}
