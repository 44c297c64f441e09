import type { StateDatabase } from "../../../db/state/database.ts";
import { savedClockSecs } from "../../../db/state/saved-clock.ts";
import { type StateClock, stateSecs } from "../../../db/state/state-clock.ts";
import type { StateNode } from "../../../db/state/state-node.ts";
import { statement } from "../../../db/state/statement.ts";
import type { StoreWrites } from "../../../db/state/store-writes.ts";
import { type CampaignRow, campaignColumns, toCampaign, toWork, type WorkRow } from "../campaign-row.ts";
import type { CampaignStatus, CampaignStore, CampaignWork } from "../campaign-store.ts";
import { groupByBlock, tokensIn } from "../ledger-block.ts";
import { readBreakdown, readTotals, resetNotAttemptedCounts } from "./campaign-counts.ts";

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
    runner: string,
  ]
>(
  "campaigns.insert",
  `INSERT INTO campaigns (campaign_id, app_id, dedupe_key, notification_id, title, body, target_url,
     status, success_count, failure_count, not_attempted_count, created_at, runner)
   VALUES (?, ?, ?, ?, ?, ?, ?, 'queued', 0, 0, 0, ?, ?)`,
);
const putAudience = statement<unknown, [audience: string, campaignId: string]>(
  "campaign-audiences.put",
  "INSERT INTO campaign_audiences (campaign, audience) SELECT seq, ? FROM campaigns WHERE campaign_id = ?",
);
const deleteAudience = statement<unknown, [seq: number]>(
  "campaign-audiences.delete",
  "DELETE FROM campaign_audiences WHERE campaign = ?",
);
const campaignById = statement<CampaignRow, [campaignId: string]>(
  "campaigns.find",
  `SELECT ${campaignColumns} FROM campaigns WHERE campaign_id = ?`,
);
const pageOfApp = statement<CampaignRow, [appId: string, before: number, max: number]>(
  "campaigns.page",
  `SELECT ${campaignColumns} FROM campaigns WHERE app_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
);
const isAnyUnfinished = statement<{ one: number }>(
  "campaigns.is-any-unfinished",
  "SELECT 1 AS one FROM campaigns WHERE ended_at IS NULL LIMIT 1",
);
const pageToTake = statement<{ seq: number; app_id: string }, [nowMs: number, after: number, max: number]>(
  "campaigns.page-to-take",
  `SELECT seq, app_id FROM campaigns
   WHERE ended_at IS NULL AND not_before_ms <= ? AND seq > ? ORDER BY seq LIMIT ?`,
);
const workOf = statement<WorkRow, [seq: number]>(
  "campaigns.work",
  `SELECT ${campaignColumns}, dedupe_key, audience, runner, epoch, runs,
     (SELECT expires_at FROM dedupe_keys k WHERE k.key = dedupe_key) AS ledger_ends_at
   FROM campaigns JOIN campaign_audiences a ON a.campaign = seq WHERE seq = ?`,
);
const startRun = statement<unknown, [bootId: string, nowSecs: number, seq: number]>(
  "campaigns.start-run",
  `UPDATE campaigns SET runner = ?, epoch = epoch + 1, runs = runs + 1, status = 'running',
     started_at = coalesce(started_at, ?), not_attempted_count = 0
   WHERE seq = ?`,
);
const setAudienceCount = statement<unknown, [tokens: number, seq: number, epoch: number, bootId: string]>(
  "campaigns.set-audience-count",
  `UPDATE campaigns SET audience_count = ? WHERE seq = ? AND epoch = ? AND runner = ? AND ended_at IS NULL`,
);
const releaseRun = statement<unknown, [notBeforeMs: number, seq: number, epoch: number, bootId: string]>(
  "campaigns.release-run",
  `UPDATE campaigns SET runner = NULL, not_before_ms = ?
   WHERE seq = ? AND epoch = ? AND runner = ? AND ended_at IS NULL`,
);
const endRun = statement<
  unknown,
  [status: CampaignStatus, nowSecs: number, seq: number, epoch: number, bootId: string]
>(
  "campaigns.end-run",
  `UPDATE campaigns SET status = iif(ended_at IS NULL, ?1, status), ended_at = coalesce(ended_at, ?2),
     audience_count = iif(?1 = 'completed', success_count + failure_count + not_attempted_count, audience_count)
   WHERE seq = ?3 AND epoch = ?4 AND runner = ?5`,
);
const endedOf = statement<{ id: string }, [campaignIds: string]>(
  "campaigns.ended-of",
  `SELECT value AS id FROM json_each(?) WHERE NOT EXISTS
     (SELECT 1 FROM campaigns WHERE campaign_id = value AND ended_at IS NULL)`,
);
const waitingNow = statement<{ count: number; oldest: number | null }>(
  "campaigns.waiting",
  `SELECT count(*) AS count, min(created_at) AS oldest FROM campaigns
   WHERE ended_at IS NULL AND (status = 'queued' OR runner IS NULL)`,
);
const retryableFids = statement<{ fid: number }, [campaignId: string, after: number, max: number]>(
  "campaign-retryable.page",
  `SELECT fid FROM campaign_retryable
   WHERE campaign = (SELECT seq FROM campaigns WHERE campaign_id = ?) AND fid > ? ORDER BY fid LIMIT ?`,
);

const keyOf = statement<{ key: number }, [appId: string, notificationId: string]>(
  "dedupe-keys.find",
  "SELECT key FROM dedupe_keys WHERE app_id = ? AND notification_id = ?",
);
const sentOfBlock = statement<
  { fids: Uint8Array },
  [key: number, clientFid: number, block: number, nowSecs: number]
>(
  "dedupe.sent-of-block",
  `SELECT fids FROM dedupe WHERE key = ? AND client_fid = ? AND block = ? AND sent = 1 AND expires_at > ?`,
);

const TAKE_PAGE = 1000;

export function campaignReads(
  db: StateDatabase,
): Pick<
  CampaignStore,
  "find" | "list" | "ended" | "waiting" | "breakdown" | "totals" | "sentBefore" | "retryableFids"
> {
  return {
    async find(campaignId) {
      const row = db.get(campaignById, campaignId);
      return row && toCampaign(row);
    },

    list: async ({ appId, before, max }) => db.all(pageOfApp, appId, before, max).map(toCampaign),

    ended: async (campaignIds) => db.all(endedOf, JSON.stringify(campaignIds)).map(({ id }) => id),

    async waiting() {
      const { count, oldest } = db.get(waitingNow) ?? { count: 0, oldest: null };
      return { count, oldestCreatedAt: oldest };
    },

    breakdown: async (campaignId, maxHosts) =>
      db.snapshot(() => readBreakdown(db, db.get(campaignById, campaignId)?.seq ?? -1, maxHosts)),

    totals: async (campaignId, maxClients) =>
      db.snapshot(() => readTotals(db, db.get(campaignById, campaignId)?.seq ?? -1, maxClients)),

    sentBefore: async ({ appId, notificationId }, tokens) => {
      const key = db.get(keyOf, appId, notificationId)?.key;
      if (key === undefined) return [];
      const nowSecs = savedClockSecs(db) ?? 0;
      return groupByBlock(tokens).flatMap((group) => {
        const rows = db.all(sentOfBlock, key, group.clientFid, group.block, nowSecs);
        return tokensIn(
          group,
          rows.map(({ fids }) => fids),
        );
      });
    },

    retryableFids: async (campaignId, after, max) =>
      db.all(retryableFids, campaignId, after, max).map(({ fid }) => fid),
  };
}

/** Whether `take` might find a campaign: reading that costs less than a write that finds none. */
export function hasUnfinished(db: StateDatabase): boolean {
  return db.get(isAnyUnfinished) !== undefined;
}

/**
 * The writes of the only node of a state: every runner but this process has ended.
 */
export function campaignWrites(
  db: StateDatabase,
  clock: StateClock,
  { bootId }: StateNode,
): StoreWrites<CampaignStore, "create" | "take" | "setAudienceCount" | "release" | "end"> {
  return {
    create({ campaignId, appId, notification, audience, createdAt, ledgerSecs }, maxUnderWay) {
      if ((db.get(countUnderWay, appId)?.count ?? 0) >= maxUnderWay) return "too-many";
      const { notificationId, title, body, targetUrl } = notification;
      const key = db.all(putKey, appId, notificationId, stateSecs(clock) + ledgerSecs)[0]?.key;
      if (key === undefined) throw new Error("a row that was just written is missing");
      db.run(
        insertCampaign,
        campaignId,
        appId,
        key,
        notificationId,
        title,
        body,
        targetUrl,
        createdAt,
        bootId,
      );
      db.run(putAudience, JSON.stringify(audience), campaignId);
      return "created";
    },

    take(room, nowSecs) {
      const running = new Set(room.running.map(({ seq }) => seq));
      const runningOfApp = new Map<string, number>();
      for (const { appId } of room.running) runningOfApp.set(appId, (runningOfApp.get(appId) ?? 0) + 1);
      const taken: CampaignWork[] = [];
      let after = 0;
      for (;;) {
        const page = db.all(pageToTake, clock.nowMs(), after, TAKE_PAGE);
        for (const { seq, app_id } of page) {
          if (running.size >= room.maxRunning) return taken;
          const ofApp = runningOfApp.get(app_id) ?? 0;
          if (running.has(seq) || ofApp >= room.maxRunningOfApp) continue;
          const work = startOne(seq, nowSecs);
          if (!work) continue;
          running.add(seq);
          runningOfApp.set(app_id, ofApp + 1);
          taken.push(work);
        }
        after = page.at(-1)?.seq ?? after;
        if (page.length < TAKE_PAGE) return taken;
      }
    },

    setAudienceCount({ seq, epoch }, tokens) {
      db.run(setAudienceCount, tokens, seq, epoch, bootId);
    },

    release({ seq, epoch }, delayMs) {
      db.run(releaseRun, clock.nowMs() + delayMs, seq, epoch, bootId);
    },

    end({ seq, epoch }, status, nowSecs) {
      if (db.run(endRun, status, nowSecs, seq, epoch, bootId) === 0) return "taken";
      db.run(deleteAudience, seq);
      return "ended";
    },
  };

  /** Undefined for a campaign without an audience, which only a damaged database has. */
  function startOne(seq: number, nowSecs: number): CampaignWork | undefined {
    const row = db.get(workOf, seq);
    if (!row) return undefined;
    db.run(startRun, bootId, nowSecs, seq);
    resetNotAttemptedCounts(db, seq);
    return toWork(row, bootId, stateSecs(clock));
  }
}
