import type { StateDatabase } from "../../../db/state/database.ts";
import { type StateClock, stateSecs } from "../../../db/state/state-clock.ts";
import { statement } from "../../../db/state/statement.ts";
import type { StoreWrites } from "../../../db/state/store-writes.ts";
import type { Audience, Campaign, CampaignStatus, CampaignStore } from "../campaign-store.ts";
import { readBreakdown, readTotals, resetNotAttemptedCounts } from "./campaign-counts.ts";

interface CampaignRow {
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
  readonly created_at: number;
  readonly started_at: number | null;
  readonly ended_at: number | null;
}

interface WorkRow extends CampaignRow {
  readonly dedupe_key: number;
  readonly audience: string;
  readonly ledger_ends_at: number;
}

interface UnderWayRow {
  readonly seq: number;
  readonly campaign_id: string;
  readonly app_id: string;
  readonly created_at: number;
}

const columns = `seq, campaign_id, app_id, notification_id, title, body, target_url, status, success_count,
  failure_count, not_attempted_count, created_at, started_at, ended_at`;

const countUnderWay = statement<{ count: number }, [appId: string]>(
  "campaigns.count-under-way",
  "SELECT count(*) AS count FROM campaigns WHERE app_id = ? AND ended_at IS NULL",
);
const putKey = statement<{ key: number }, [appId: string, notificationId: string, expiresAt: number]>(
  "dedupe-keys.put",
  `INSERT INTO dedupe_keys (app_id, notification_id, expires_at) VALUES (?1, ?2, ?3)
   ON CONFLICT (app_id, notification_id) DO UPDATE SET expires_at = max(expires_at, ?3) RETURNING key`,
);
const insertCampaign = statement<
  unknown,
  [
    campaignId: string,
    appId: string,
    dedupeKey: number,
    notificationId: string,
    title: string,
    body: string,
    targetUrl: string,
    createdAt: number,
  ]
>(
  "campaigns.insert",
  `INSERT INTO campaigns (campaign_id, app_id, dedupe_key, notification_id, title, body, target_url,
     status, success_count, failure_count, not_attempted_count, created_at)
   VALUES (?, ?, ?, ?, ?, ?, ?, 'queued', 0, 0, 0, ?)`,
);
const putAudience = statement<unknown, [audience: string, campaignId: string]>(
  "campaign-audiences.put",
  "INSERT INTO campaign_audiences (campaign, audience) SELECT seq, ? FROM campaigns WHERE campaign_id = ?",
);
const deleteAudience = statement<unknown, [campaignId: string]>(
  "campaign-audiences.delete",
  "DELETE FROM campaign_audiences WHERE campaign = (SELECT seq FROM campaigns WHERE campaign_id = ?)",
);
const campaignById = statement<CampaignRow, [campaignId: string]>(
  "campaigns.find",
  `SELECT ${columns} FROM campaigns WHERE campaign_id = ?`,
);
const pageOfApp = statement<CampaignRow, [appId: string, before: number, max: number]>(
  "campaigns.page",
  `SELECT ${columns} FROM campaigns WHERE app_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
);
const pageUnderWay = statement<UnderWayRow, [appId: string, seq: number, max: number]>(
  "campaigns.under-way",
  `SELECT seq, campaign_id, app_id, created_at FROM campaigns
   WHERE ended_at IS NULL AND (app_id, seq) > (?, ?) ORDER BY app_id, seq LIMIT ?`,
);
const workById = statement<WorkRow, [campaignId: string]>(
  "campaigns.work",
  `SELECT ${columns}, dedupe_key, audience,
     (SELECT expires_at FROM dedupe_keys k WHERE k.key = dedupe_key) AS ledger_ends_at
   FROM campaigns JOIN campaign_audiences a ON a.campaign = seq
   WHERE campaign_id = ? AND ended_at IS NULL`,
);
const startCampaign = statement<unknown, [nowSecs: number, seq: number]>(
  "campaigns.start",
  `UPDATE campaigns SET status = 'running', started_at = coalesce(started_at, ?), not_attempted_count = 0
   WHERE seq = ?`,
);
const endCampaign = statement<unknown, [status: CampaignStatus, nowSecs: number, campaignId: string]>(
  "campaigns.end",
  "UPDATE campaigns SET status = ?, ended_at = ? WHERE campaign_id = ? AND ended_at IS NULL",
);
const retryableFids = statement<{ fid: number }, [campaignId: string, after: number, max: number]>(
  "campaign-retryable.page",
  `SELECT fid FROM campaign_retryable
   WHERE campaign = (SELECT seq FROM campaigns WHERE campaign_id = ?) AND fid > ? ORDER BY fid LIMIT ?`,
);

const UNDER_WAY_PAGE = 1000;

export function campaignReads(
  db: StateDatabase,
): Pick<CampaignStore, "find" | "list" | "listUnfinished" | "breakdown" | "totals" | "retryableFids"> {
  return {
    async find(campaignId) {
      const row = db.get(campaignById, campaignId);
      return row && toCampaign(row);
    },

    list: async ({ appId, before, max }) => db.all(pageOfApp, appId, before, max).map(toCampaign),

    listUnfinished: async () =>
      db.snapshot(() => {
        const rows: UnderWayRow[] = [];
        for (;;) {
          const last = rows.at(-1);
          const page = db.all(pageUnderWay, last?.app_id ?? "", last?.seq ?? 0, UNDER_WAY_PAGE);
          rows.push(...page);
          if (page.length < UNDER_WAY_PAGE) break;
        }
        return rows
          .sort((a, b) => a.seq - b.seq)
          .map((row) => ({ campaignId: row.campaign_id, appId: row.app_id, createdAt: row.created_at }));
      }),

    breakdown: async (campaignId, maxHosts) =>
      db.snapshot(() => readBreakdown(db, db.get(campaignById, campaignId)?.seq ?? -1, maxHosts)),

    totals: async (campaignId, maxClients) =>
      db.snapshot(() => readTotals(db, db.get(campaignById, campaignId)?.seq ?? -1, maxClients)),

    retryableFids: async (campaignId, after, max) =>
      db.all(retryableFids, campaignId, after, max).map(({ fid }) => fid),
  };
}

export function campaignWrites(
  db: StateDatabase,
  clock: StateClock,
): StoreWrites<CampaignStore, "create" | "start" | "end"> {
  return {
    create({ campaignId, appId, notification, audience, createdAt, ledgerSecs }, maxUnderWay) {
      if ((db.get(countUnderWay, appId)?.count ?? 0) >= maxUnderWay) return "too-many";
      const { notificationId, title, body, targetUrl } = notification;
      const key = db.all(putKey, appId, notificationId, stateSecs(clock) + ledgerSecs)[0]?.key;
      if (key === undefined) throw new Error("a row that was just written is missing");
      db.run(insertCampaign, campaignId, appId, key, notificationId, title, body, targetUrl, createdAt);
      db.run(putAudience, JSON.stringify(audience), campaignId);
      return "created";
    },

    start(campaignId, nowSecs) {
      const row = db.get(workById, campaignId);
      if (!row) return undefined;
      db.run(startCampaign, nowSecs, row.seq);
      resetNotAttemptedCounts(db, row.seq);
      const { seq, appId, notification, createdAt } = toCampaign(row);
      const audience: Audience = JSON.parse(row.audience);
      const isLedgerExpired = row.ledger_ends_at <= stateSecs(clock);
      const ledgerKey = row.dedupe_key;
      return {
        seq,
        campaignId,
        appId,
        notification,
        createdAt,
        audience,
        ledgerKey,
        isLedgerExpired,
      };
    },

    end(campaignId, status, nowSecs) {
      db.run(endCampaign, status, nowSecs, campaignId);
      db.run(deleteAudience, campaignId);
    },
  };
}

function toCampaign(row: CampaignRow): Campaign {
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
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
  };
}
