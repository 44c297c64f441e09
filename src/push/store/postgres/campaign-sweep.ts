import type { PgPool } from "../../../db/postgres/pool.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import { type StateClock, stateSecs } from "../../../db/state/state-clock.ts";
import type { Sweep } from "../../../db/state/sweep.ts";
import { CAMPAIGN_RETENTION_SECS } from "../campaign-store.ts";

const oldCampaign = pgStatement<{ seq: number }, [createdUntil: number]>(
  "campaigns.old",
  `SELECT seq FROM campaigns WHERE created_at <= $1 AND ended_at IS NOT NULL
   ORDER BY created_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
);

/** Deletes rows of a campaign from a table, the first of its key. */
function deleteOf(table: string, key: string) {
  return pgStatement<unknown, [campaign: number, max: number]>(
    `${table.replaceAll("_", "-")}.delete`,
    `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE campaign = $1
       ORDER BY ${key} LIMIT $2 FOR UPDATE SKIP LOCKED))`,
  );
}
const deleteFailures = deleteOf("campaign_failures", "client_fid, block");
const deleteRetryable = deleteOf("campaign_retryable", "fid");
const deleteClients = deleteOf("campaign_clients", "client_fid");
const deleteCounts = deleteOf("campaign_counts", "host, kind, reason");
const deleteCampaign = pgStatement<unknown, [campaign: number]>(
  "campaigns.delete",
  "DELETE FROM campaigns WHERE seq = $1",
);
const nextWithFailures = pgStatement<{ campaign: number | null; unfinished: boolean }, [after: number]>(
  "campaign-failures.next-campaign",
  `SELECT campaign, EXISTS (SELECT 1 FROM campaigns c WHERE c.seq = campaign AND c.ended_at IS NULL) AS unfinished
   FROM (SELECT min(campaign) AS campaign FROM campaign_failures WHERE campaign > $1) AS next`,
);
const expiredKey = pgStatement<{ key: number }, [nowSecs: number]>(
  "dedupe-keys.expired",
  `SELECT key FROM dedupe_keys k WHERE expires_at <= $1 AND NOT EXISTS
     (SELECT 1 FROM campaigns c WHERE c.app_id = k.app_id AND c.ended_at IS NULL AND c.dedupe_key = k.key)
   ORDER BY expires_at LIMIT 1 FOR UPDATE OF k SKIP LOCKED`,
);
const deleteOfKey = pgStatement<unknown, [key: number, max: number]>(
  "dedupe.delete-of-key",
  `DELETE FROM dedupe WHERE ctid = ANY (ARRAY(SELECT ctid FROM dedupe WHERE key = $1
     ORDER BY client_fid, block, campaign, sent LIMIT $2 FOR UPDATE SKIP LOCKED))`,
);
const deleteKey = pgStatement<unknown, [key: number]>(
  "dedupe-keys.delete",
  "DELETE FROM dedupe_keys WHERE key = $1",
);

/** Deletes campaigns that are older than the retention, with all their rows. */
export function campaignSweep(db: PgPool, clock: StateClock): Sweep {
  return {
    name: "campaigns",
    step: (maxRows) =>
      db.transaction(async (tx) => {
        const old = await tx.get(oldCampaign, clock.sweepableSecs() - CAMPAIGN_RETENTION_SECS);
        if (!old) return { deleted: 0, more: false };
        let deleted = 0;
        for (const part of [deleteFailures, deleteRetryable, deleteClients, deleteCounts]) {
          deleted += await tx.run(part, old.seq, maxRows - deleted);
          if (deleted >= maxRows) return { deleted, more: true };
        }
        await tx.run(deleteCampaign, old.seq);
        return { deleted: deleted + 1, more: true };
      }),
  };
}

/** Deletes the failed tokens of finished campaigns; only unfinished ones need them. */
export function campaignProgressSweep(db: PgPool): Sweep {
  let position = 0;
  return {
    name: "campaign_progress",
    async step(maxRows) {
      const { campaign = null, unfinished = false } = (await db.get(nextWithFailures, position)) ?? {};
      if (campaign === null) {
        position = 0;
        return { deleted: 0, more: false };
      }
      const deleted = unfinished ? 0 : await db.run(deleteFailures, campaign, maxRows);
      if (deleted < maxRows) position = campaign;
      return { deleted, more: true };
    },
  };
}

/** Deletes expired ledger rows that no unfinished campaign uses. */
export function dedupeSweep(db: PgPool, clock: StateClock): Sweep {
  return {
    name: "dedupe",
    step: (maxRows) =>
      db.transaction(async (tx) => {
        const expired = await tx.get(expiredKey, stateSecs(clock));
        if (!expired) return { deleted: 0, more: false };
        const deleted = await tx.run(deleteOfKey, expired.key, maxRows);
        if (deleted < maxRows) await tx.run(deleteKey, expired.key);
        return { deleted, more: true };
      }),
  };
}
