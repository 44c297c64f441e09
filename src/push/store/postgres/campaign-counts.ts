import type { PgQueries, PgTransaction } from "../../../db/postgres/pool.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import type {
  CampaignBreakdown,
  CampaignTotals,
  ClientCount,
  OutcomeCount,
  OutcomeCounts,
  OutcomeKind,
} from "../campaign-store.ts";
import { withCurrentReasons } from "../renamed-reasons.ts";

const addCounts = pgStatement<
  unknown,
  [
    campaign: number,
    hosts: readonly string[],
    kinds: readonly OutcomeKind[],
    reasons: readonly string[],
    counts: readonly number[],
  ]
>(
  "campaign-counts.add",
  `INSERT INTO campaign_counts AS c (campaign, host, kind, reason, count)
   SELECT $1, host, kind, reason, count
   FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[]) AS n (host, kind, reason, count)
   ORDER BY host, kind, reason
   ON CONFLICT (campaign, host, kind, reason) DO UPDATE SET count = c.count + excluded.count`,
);
const addClients = pgStatement<
  unknown,
  [campaign: number, clientFids: readonly number[], tokens: readonly number[], successes: readonly number[]]
>(
  "campaign-clients.add",
  `INSERT INTO campaign_clients AS c (campaign, client_fid, tokens, successes)
   SELECT $1, client_fid, tokens, successes
   FROM unnest($2::bigint[], $3::bigint[], $4::bigint[]) AS n (client_fid, tokens, successes)
   ORDER BY client_fid
   ON CONFLICT (campaign, client_fid)
   DO UPDATE SET tokens = c.tokens + excluded.tokens, successes = c.successes + excluded.successes`,
);
const addTotals = pgStatement<
  unknown,
  [campaign: number, success: number, failure: number, notAttempted: number]
>(
  "campaigns.add-counts",
  `UPDATE campaigns SET success_count = success_count + $2, failure_count = failure_count + $3,
     not_attempted_count = not_attempted_count + $4 WHERE seq = $1`,
);
const notAttempted = pgStatement<
  Pick<OutcomeCount, "host" | "reason" | "count">,
  [campaign: number, hosts: readonly string[]]
>(
  "campaign-counts.not-attempted",
  `SELECT host, reason, count FROM campaign_counts
   WHERE campaign = $1 AND host = ANY ($2::text[]) AND kind = 'not_attempted'`,
);
const deleteNotAttempted = pgStatement<unknown, [campaigns: readonly number[]]>(
  "campaign-counts.forget",
  "DELETE FROM campaign_counts WHERE campaign = ANY ($1::bigint[]) AND kind = 'not_attempted'",
);
const byReason = pgStatement<Omit<OutcomeCount, "host">, [campaign: number]>(
  "campaign-counts.by-reason",
  `SELECT kind, reason, sum(count)::bigint AS count FROM campaign_counts WHERE campaign = $1
   GROUP BY kind, reason ORDER BY kind, reason`,
);
const byHost = pgStatement<OutcomeCount, [campaign: number, maxHosts: number]>(
  "campaign-counts.by-host",
  `WITH largest AS MATERIALIZED (
     SELECT host, sum(count) AS tokens FROM campaign_counts WHERE campaign = $1
     GROUP BY host ORDER BY tokens DESC, host LIMIT $2
   )
   SELECT c.host, c.kind, c.reason, c.count FROM largest
   JOIN campaign_counts c ON c.campaign = $1 AND c.host = largest.host
   ORDER BY largest.tokens DESC, c.host, c.kind, c.reason`,
);
const countHosts = pgStatement<{ hosts: number }, [campaign: number]>(
  "campaign-counts.hosts",
  "SELECT count(DISTINCT host) AS hosts FROM campaign_counts WHERE campaign = $1",
);
const byClient = pgStatement<
  { client_fid: number; tokens: number; successes: number },
  [campaign: number, max: number]
>(
  "campaign-clients.first",
  `SELECT client_fid, tokens, successes FROM campaign_clients
   WHERE campaign = $1 ORDER BY client_fid LIMIT $2`,
);

/** Adds tokens to the counts by host and reason. No two counts have the same key. */
export async function addToCampaignCounts(
  tx: PgTransaction,
  campaign: number,
  added: readonly OutcomeCount[],
): Promise<void> {
  if (added.length === 0) return;
  await tx.run(
    addCounts,
    campaign,
    added.map(({ host }) => host),
    added.map(({ kind }) => kind),
    added.map(({ reason }) => reason),
    added.map(({ count }) => count),
  );
}

/** Adds tokens to the counts by client app. No two counts have the same client. */
export async function addToCampaignClients(
  tx: PgTransaction,
  campaign: number,
  added: readonly ClientCount[],
): Promise<void> {
  if (added.length === 0) return;
  await tx.run(
    addClients,
    campaign,
    added.map(({ clientFid }) => clientFid),
    added.map(({ tokens }) => tokens),
    added.map(({ successes }) => successes),
  );
}

/** Adds tokens to the totals in the campaign's row, as the last statement of the transaction that adds the counts. */
export async function addToCampaignTotals(
  tx: PgTransaction,
  campaign: number,
  added: OutcomeCounts,
): Promise<void> {
  if (added.success + added.failure + added.notAttempted === 0) return;
  await tx.run(addTotals, campaign, added.success, added.failure, added.notAttempted);
}

/** Returns the counts of tokens that were not attempted, of some hosts. */
export function readNotAttempted(tx: PgTransaction, campaign: number, hosts: readonly string[]) {
  return tx.all(notAttempted, campaign, hosts);
}

/** Deletes the counts of tokens that were not attempted; the caller resets the totals in the rows of the campaigns. */
export async function resetNotAttemptedCounts(
  tx: PgTransaction,
  campaigns: readonly number[],
): Promise<void> {
  await tx.run(deleteNotAttempted, campaigns);
}

export async function readBreakdown(
  db: PgQueries,
  campaign: number,
  maxHosts: number,
): Promise<CampaignBreakdown> {
  return {
    byHost: withCurrentReasons(await db.all(byHost, campaign, maxHosts)),
    hostCount: (await db.get(countHosts, campaign))?.hosts ?? 0,
    byReason: withCurrentReasons(await db.all(byReason, campaign)),
  };
}

export async function readTotals(
  db: PgQueries,
  campaign: number,
  maxClients: number,
): Promise<CampaignTotals> {
  return {
    byReason: withCurrentReasons(await db.all(byReason, campaign)),
    byClient: (await db.all(byClient, campaign, maxClients)).map(({ client_fid, tokens, successes }) => ({
      clientFid: client_fid,
      tokens,
      successes,
    })),
  };
}
