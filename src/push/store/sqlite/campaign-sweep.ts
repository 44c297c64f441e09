import type { StateDatabase } from "../../../db/state/database.ts";
import type { StateClock } from "../../../db/state/state-clock.ts";
import { statement } from "../../../db/state/statement.ts";
import type { SweepStep } from "../../../db/state/sweep.ts";
import { CAMPAIGN_RETENTION_SECS } from "../campaign-store.ts";

const oldCampaign = statement<{ seq: number }, [createdUntil: number]>(
  "campaigns.old",
  "SELECT seq FROM campaigns WHERE created_at <= ? AND ended_at IS NOT NULL ORDER BY created_at LIMIT 1",
);
const deleteCounts = statement<unknown, [campaign: number, max: number]>(
  "campaign-counts.delete",
  `DELETE FROM campaign_counts WHERE (campaign, host, kind, reason) IN
   (SELECT campaign, host, kind, reason FROM campaign_counts WHERE campaign = ?
    ORDER BY host, kind, reason LIMIT ?)`,
);
const deleteClients = statement<unknown, [campaign: number, max: number]>(
  "campaign-clients.delete",
  `DELETE FROM campaign_clients WHERE (campaign, client_fid) IN
   (SELECT campaign, client_fid FROM campaign_clients WHERE campaign = ? ORDER BY client_fid LIMIT ?)`,
);
const deleteRetryable = statement<unknown, [campaign: number, max: number]>(
  "campaign-retryable.delete",
  `DELETE FROM campaign_retryable WHERE (campaign, fid) IN
   (SELECT campaign, fid FROM campaign_retryable WHERE campaign = ? ORDER BY fid LIMIT ?)`,
);
const deleteFailures = statement<unknown, [campaign: number, max: number]>(
  "campaign-failures.delete",
  `DELETE FROM campaign_failures WHERE (campaign, client_fid, block) IN
   (SELECT campaign, client_fid, block FROM campaign_failures WHERE campaign = ?
    ORDER BY client_fid, block LIMIT ?)`,
);
const deleteCampaign = statement<unknown, [campaign: number]>(
  "campaigns.delete",
  "DELETE FROM campaigns WHERE seq = ?",
);
const nextWithFailures = statement<{ campaign: number | null }, [after: number]>(
  "campaign-failures.next-campaign",
  "SELECT min(campaign) AS campaign FROM campaign_failures WHERE campaign > ?",
);
const underWay = statement<{ one: number }, [campaign: number]>(
  "campaigns.is-under-way",
  "SELECT 1 AS one FROM campaigns WHERE seq = ? AND ended_at IS NULL",
);

/** Deletes campaigns that are older than the retention, with all their rows. */
export function campaignSweep(db: StateDatabase, clock: StateClock): SweepStep {
  return (maxRows) => {
    const old = db.get(oldCampaign, clock.sweepableSecs() - CAMPAIGN_RETENTION_SECS);
    if (!old) return { deleted: 0, more: false };
    let deleted = 0;
    for (const part of [deleteFailures, deleteRetryable, deleteClients, deleteCounts]) {
      deleted += db.run(part, old.seq, maxRows - deleted);
      if (deleted >= maxRows) return { deleted, more: true };
    }
    db.run(deleteCampaign, old.seq);
    return { deleted: deleted + 1, more: true };
  };
}

/** Deletes the failed tokens of finished campaigns; only unfinished ones need them. */
export function campaignProgressSweep(db: StateDatabase): SweepStep {
  let position = 0;
  return (maxRows) => {
    const campaign = db.get(nextWithFailures, position)?.campaign ?? null;
    if (campaign === null) {
      position = 0;
      return { deleted: 0, more: false };
    }
    const deleted = db.get(underWay, campaign) ? 0 : db.run(deleteFailures, campaign, maxRows);
    if (deleted < maxRows) position = campaign;
    return { deleted, more: true };
  };
}
