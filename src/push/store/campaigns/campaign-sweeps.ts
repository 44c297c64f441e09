import { sql } from "../../../db/state/sql.ts";
import { stateSecs } from "../../../db/state/state-clock.ts";
import type { StateDb, Sweep } from "../../../db/state/state-db.ts";
import { CAMPAIGN_RETENTION_SECS } from "./campaign-store.ts";

const oldCampaign = sql<{ seq: number }, [createdUntil: number]>(
  "campaigns.old",
  `SELECT seq FROM campaigns WHERE created_at <= $1 AND ended_at IS NOT NULL
   ORDER BY created_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
);

/** Deletes rows of a campaign or notification from a table, in the order of their key. */
function deleteOf(table: string, owner: string, key: string) {
  return sql<unknown, [owner: number, max: number]>(
    `${table.replaceAll("_", "-")}.delete-of-${owner}`,
    `DELETE FROM ${table} WHERE (${owner}, ${key}) IN
     (SELECT ${owner}, ${key} FROM ${table} WHERE ${owner} = $1 ORDER BY ${key} LIMIT $2 FOR UPDATE SKIP LOCKED)`,
  );
}
const deleteFailures = deleteOf("campaign_failures", "campaign", "client_fid, block");
const deleteParts = [
  deleteFailures,
  deleteOf("campaign_retryable", "campaign", "fid"),
  deleteOf("campaign_clients", "campaign", "client_fid"),
  deleteOf("campaign_counts", "campaign", "host, kind, reason"),
  deleteOf("campaign_departures", "campaign", "fid"),
  deleteOf("open_links", "campaign", "token"),
  deleteOf("open_counts", "campaign", "client_fid, age_minutes"),
  deleteOf("app_opens", "campaign", "fid"),
];
const deleteCampaign = sql<unknown, [campaign: number]>(
  "campaigns.delete",
  "DELETE FROM campaigns WHERE seq = $1",
);
const nextWithFailures = sql<{ campaign: number | null; unfinished: boolean | number }, [after: number]>(
  "campaign-failures.next-campaign",
  `SELECT campaign, EXISTS (SELECT 1 FROM campaigns c WHERE c.seq = campaign AND c.ended_at IS NULL) AS unfinished
   FROM (SELECT min(campaign) AS campaign FROM campaign_failures WHERE campaign > $1) AS next`,
);
const expiredKey = sql<{ key: number }, [nowSecs: number]>(
  "dedupe-keys.expired",
  `SELECT key FROM dedupe_keys k WHERE expires_at <= $1 AND NOT EXISTS
     (SELECT 1 FROM campaigns c WHERE c.app_id = k.app_id AND c.ended_at IS NULL AND c.dedupe_key = k.key)
   ORDER BY expires_at LIMIT 1 FOR UPDATE OF k SKIP LOCKED`,
);
const deleteOfKey = deleteOf("dedupe", "key", "client_fid, block, campaign, sent");
const deleteKey = sql<unknown, [key: number]>("dedupe-keys.delete", "DELETE FROM dedupe_keys WHERE key = $1");

/** Deletes campaigns that are older than the retention, with all their rows. */
export function campaignSweep(db: StateDb): Sweep {
  return db.sweep("campaigns", async (tx, maxRows) => {
    let deleted = 0;
    while (deleted < maxRows) {
      const old = await tx.get(oldCampaign, tx.clock.sweepableSecs() - CAMPAIGN_RETENTION_SECS);
      if (!old) break;
      for (const part of deleteParts) deleted += await tx.run(part, old.seq, maxRows - deleted);
      if (deleted < maxRows) deleted += await tx.run(deleteCampaign, old.seq);
    }
    return deleted;
  });
}

/** Deletes the failed tokens of finished campaigns; only unfinished ones need them. */
export function campaignProgressSweep(db: StateDb): Sweep {
  const forget = db.decision(
    "campaignProgress.delete",
    (tx, campaign: number, maxRows: number) => tx.run(deleteFailures, campaign, maxRows),
    { isSynced: false, isOneStatement: true },
  );
  let position = 0;
  return {
    name: "campaign_progress",
    async step(maxRows) {
      const next = await db.get(nextWithFailures, position);
      if (!next || next.campaign === null) {
        position = 0;
        return { deleted: 0, more: false };
      }
      const { campaign, unfinished } = next;
      const deleted = unfinished ? 0 : await forget(campaign, maxRows);
      if (deleted < maxRows) position = campaign;
      return { deleted, more: true };
    },
  };
}

/** Deletes the ledger of expired notifications that no unfinished campaign sends. */
export function dedupeSweep(db: StateDb): Sweep {
  return db.sweep("dedupe", async (tx, maxRows) => {
    let deleted = 0;
    while (deleted < maxRows) {
      const expired = await tx.get(expiredKey, stateSecs(tx.clock));
      if (!expired) break;
      deleted += await tx.run(deleteOfKey, expired.key, maxRows - deleted);
      if (deleted < maxRows) deleted += await tx.run(deleteKey, expired.key);
    }
    return deleted;
  });
}
