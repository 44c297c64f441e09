import type { StateDatabase } from "../../../db/state/database.ts";
import { statement } from "../../../db/state/statement.ts";
import type {
  CampaignBreakdown,
  CampaignTotals,
  ClientCount,
  OutcomeCount,
  OutcomeCounts,
  OutcomeKind,
} from "../campaign-store.ts";
import { withCurrentReasons } from "../renamed-reasons.ts";

const addCount = statement<
  unknown,
  [campaign: number, host: string, kind: OutcomeKind, reason: string, count: number]
>(
  "campaign-counts.add",
  `INSERT INTO campaign_counts (campaign, host, kind, reason, count) VALUES (?1, ?2, ?3, ?4, ?5)
   ON CONFLICT (campaign, host, kind, reason) DO UPDATE SET count = count + ?5`,
);
const notAttemptedCount = statement<{ count: number }, [campaign: number, host: string, reason: string]>(
  "campaign-counts.not-attempted",
  `SELECT count FROM campaign_counts
   WHERE campaign = ? AND host = ? AND kind = 'not_attempted' AND reason = ?`,
);
const addTotals = statement<
  unknown,
  [success: number, failure: number, notAttempted: number, campaign: number]
>(
  "campaigns.add-counts",
  `UPDATE campaigns SET success_count = success_count + ?, failure_count = failure_count + ?,
     not_attempted_count = not_attempted_count + ? WHERE seq = ?`,
);
const deleteNotAttempted = statement<unknown, [campaign: number]>(
  "campaign-counts.forget",
  "DELETE FROM campaign_counts WHERE campaign = ? AND kind = 'not_attempted'",
);
const byReason = statement<Omit<OutcomeCount, "host">, [campaign: number]>(
  "campaign-counts.by-reason",
  `SELECT kind, reason, sum(count) AS count FROM campaign_counts WHERE campaign = ?
   GROUP BY kind, reason ORDER BY kind, reason`,
);
const byHost = statement<OutcomeCount, [campaign: number, maxHosts: number]>(
  "campaign-counts.by-host",
  `WITH largest AS (
     SELECT host, sum(count) AS tokens FROM campaign_counts WHERE campaign = ?1
     GROUP BY host ORDER BY tokens DESC, host LIMIT ?2
   )
   SELECT c.host, c.kind, c.reason, c.count FROM largest AS below
   CROSS JOIN campaign_counts c ON c.campaign = ?1 AND c.host = below.host
   ORDER BY below.tokens DESC, c.host, c.kind, c.reason`,
);
const countHosts = statement<{ hosts: number }, [campaign: number]>(
  "campaign-counts.hosts",
  "SELECT count(DISTINCT host) AS hosts FROM campaign_counts WHERE campaign = ?",
);

const addClient = statement<
  unknown,
  [campaign: number, clientFid: number, tokens: number, successes: number]
>(
  "campaign-clients.add",
  `INSERT INTO campaign_clients (campaign, client_fid, tokens, successes) VALUES (?1, ?2, ?3, ?4)
   ON CONFLICT (campaign, client_fid) DO UPDATE SET tokens = tokens + ?3, successes = successes + ?4`,
);
const byClient = statement<ClientCount, [campaign: number, max: number]>(
  "campaign-clients.first",
  `SELECT client_fid AS clientFid, tokens, successes FROM campaign_clients
   WHERE campaign = ? ORDER BY client_fid LIMIT ?`,
);

/** Adds tokens to the counts by host and reason, within the caller's transaction. */
export function addToCampaignCounts(db: StateDatabase, campaign: number, added: OutcomeCount): void {
  db.run(addCount, campaign, added.host, added.kind, added.reason, added.count);
}

/**
 * Raises a count of tokens that were not attempted to `total`, within the caller's transaction.
 *
 * @returns by how much it grew; 0 when it was not smaller
 */
export function growNotAttempted(
  db: StateDatabase,
  campaign: number,
  host: string,
  reason: string,
  total: number,
): number {
  const grown = total - (db.get(notAttemptedCount, campaign, host, reason)?.count ?? 0);
  if (grown <= 0) return 0;
  addToCampaignCounts(db, campaign, { host, kind: "not_attempted", reason, count: grown });
  return grown;
}

/** Adds tokens to the counts by client app, within the caller's transaction. */
export function addToCampaignClients(db: StateDatabase, campaign: number, added: ClientCount): void {
  db.run(addClient, campaign, added.clientFid, added.tokens, added.successes);
}

/** Adds tokens to the totals in the campaign's row, within the transaction that adds the counts. */
export function addToCampaignTotals(db: StateDatabase, campaign: number, added: OutcomeCounts): void {
  db.run(addTotals, added.success, added.failure, added.notAttempted, campaign);
}

/** Deletes the counts of tokens that were not attempted; the caller resets the total in the campaign's row. */
export function resetNotAttemptedCounts(db: StateDatabase, campaign: number): void {
  db.run(deleteNotAttempted, campaign);
}

export function readBreakdown(db: StateDatabase, campaign: number, maxHosts: number): CampaignBreakdown {
  return {
    byHost: withCurrentReasons(db.all(byHost, campaign, maxHosts)),
    hostCount: db.get(countHosts, campaign)?.hosts ?? 0,
    byReason: withCurrentReasons(db.all(byReason, campaign)),
  };
}

export function readTotals(db: StateDatabase, campaign: number, maxClients: number): CampaignTotals {
  return {
    byReason: withCurrentReasons(db.all(byReason, campaign)),
    byClient: db.all(byClient, campaign, maxClients),
  };
}
