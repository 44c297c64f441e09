import { sql } from "../../../db/state/sql.ts";
import { stateSecs } from "../../../db/state/state-clock.ts";
import type { StateDb, Tx } from "../../../db/state/state-db.ts";
import { readDepartures } from "../departures.ts";
import { readBreakdown, readTotals } from "./campaign-counts.ts";
import { type CampaignRow, campaignColumns, toCampaign } from "./campaign-row.ts";
import { createRuns } from "./campaign-runs.ts";
import type { Audience, CampaignStore, NewCampaign, RunLimits } from "./campaign-store.ts";
import { groupByBlock, tokensIn } from "./ledger-block.ts";
import type { LedgerWrites } from "./ledger-table.ts";

/** A missing row locks nothing; the run of a campaign without an app then aborts it. */
export const lockApp = sql<{ one: number }, [appId: string]>(
  "campaigns.lock-app",
  "SELECT 1 AS one FROM apps WHERE app_id = $1 FOR NO KEY UPDATE",
);
const countUnfinished = sql<{ count: number }, [appId: string]>(
  "campaigns.count-unfinished",
  "SELECT count(*) AS count FROM campaigns WHERE app_id = $1 AND ended_at IS NULL",
);
const putKey = sql<{ key: number }, [appId: string, notificationId: string, expiresAt: number]>(
  "dedupe-keys.put",
  `INSERT INTO dedupe_keys AS k (app_id, notification_id, expires_at) VALUES ($1, $2, $3)
   ON CONFLICT (app_id, notification_id) DO UPDATE SET expires_at = greatest(k.expires_at, excluded.expires_at)
   RETURNING key`,
);
/** The node that creates it also runs it if it has room. */
const insertCampaign = sql<
  { seq: number },
  [
    campaignId: string,
    appId: string,
    dedupeKey: number,
    notificationId: string,
    title: string,
    body: string,
    targetUrl: string,
    createdAt: number,
    bootId: string,
    maxRunning: number,
    maxRunningOfApp: number,
    schedule: number | null,
  ]
>(
  "campaigns.insert",
  `INSERT INTO campaigns (campaign_id, app_id, dedupe_key, notification_id, title, body, target_url, created_at,
     status, success_count, failure_count, not_attempted_count, schedule, runner)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'queued', 0, 0, 0, $12,
     CASE WHEN (SELECT count(*) FROM campaigns WHERE ended_at IS NULL AND runner = $9::uuid) < $10::bigint
       AND (SELECT count(*) FROM campaigns WHERE ended_at IS NULL AND runner = $9::uuid AND app_id = $2) < $11::bigint
     THEN $9::uuid END)
   RETURNING seq`,
);
const putAudience = sql<unknown, [campaign: number, audience: string]>(
  "campaign-audiences.put",
  "INSERT INTO campaign_audiences (campaign, audience) VALUES ($1, $2)",
);
const campaignById = sql<CampaignRow, [campaignId: string]>(
  "campaigns.find",
  `SELECT ${campaignColumns} FROM campaigns WHERE campaign_id = $1`,
);
const seqOf = sql<{ seq: number }, [campaignId: string]>(
  "campaigns.seq",
  "SELECT seq FROM campaigns WHERE campaign_id = $1",
);
const pageOfApp = sql<CampaignRow, [appId: string, before: number, max: number]>(
  "campaigns.page",
  `SELECT ${campaignColumns} FROM campaigns WHERE app_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3`,
);

/** The first campaign of a schedule keeps its position, so that each send appears once in the pages. */
const groupedPageOfApp = sql<CampaignRow, [appId: string, before: number, max: number]>(
  "campaigns.grouped-page",
  `SELECT ${campaignColumns} FROM campaigns c WHERE app_id = $1 AND seq < $2
     AND NOT EXISTS (SELECT 1 FROM campaigns e WHERE e.schedule = c.schedule AND e.seq < c.seq)
   ORDER BY seq DESC LIMIT $3`,
);
const sumsOf = sql<
  {
    schedule: number;
    parts: number;
    success: number;
    failure: number;
    not_attempted: number;
    audience: number | null;
    started_at: number | null;
    ended_at: number | null;
    waiting: number;
    unfinished: number;
    aborted: number;
  },
  [schedules: readonly number[]]
>(
  "campaigns.sums",
  `SELECT schedule, count(*) AS parts, sum(success_count)::bigint AS success, sum(failure_count)::bigint AS failure,
     sum(not_attempted_count)::bigint AS not_attempted,
     CASE WHEN count(audience_count) = count(*) THEN sum(audience_count)::bigint END AS audience,
     min(started_at) AS started_at, max(ended_at) AS ended_at,
     (SELECT count(*) FROM schedules s WHERE s.seq = c.schedule AND s.ended_at IS NULL) AS waiting,
     count(*) FILTER (WHERE ended_at IS NULL) AS unfinished, count(*) FILTER (WHERE status = 'aborted') AS aborted
   FROM campaigns c WHERE schedule = ANY ($1::bigint[]) GROUP BY schedule`,
);

const endedOf = sql<{ id: string }, [campaignIds: string]>(
  "campaigns.ended-of",
  `SELECT asked.value AS id FROM elements($1) asked WHERE NOT EXISTS
     (SELECT 1 FROM campaigns WHERE campaign_id = asked.value AND ended_at IS NULL)`,
);
const waitingNow = sql<{ count: number; oldest: number | null }>(
  "campaigns.waiting",
  `SELECT count(*) AS count, min(created_at) AS oldest FROM campaigns
   WHERE ended_at IS NULL AND (status = 'queued' OR runner IS NULL)`,
);
const retryableFids = sql<{ fid: number }, [campaignId: string, after: number, max: number]>(
  "campaign-retryable.page",
  `SELECT fid FROM campaign_retryable
   WHERE campaign = (SELECT seq FROM campaigns WHERE campaign_id = $1) AND fid > $2 ORDER BY fid LIMIT $3`,
);
/** The product of clients and blocks is small: a page has few clients, and its fids are close together. */
const sentOfBlocks = sql<
  { client_fid: number; block: number; fids: Uint8Array },
  [
    appId: string,
    notificationId: string,
    clientFids: readonly number[],
    blocks: readonly number[],
    nowSecs: number,
  ]
>(
  "dedupe.sent-of-blocks",
  `SELECT client_fid, block, fids FROM dedupe
   WHERE key = (SELECT key FROM dedupe_keys WHERE app_id = $1 AND notification_id = $2)
     AND client_fid = ANY ($3::bigint[]) AND block = ANY ($4::bigint[]) AND sent AND expires_at > latest($5)`,
);

/** The maximum number of unfinished campaigns of the app, and the run limits of this process. */
type Room = RunLimits & { readonly maxUnfinished: number };

/** Stores a campaign as queued, unless its app has too many unfinished ones. */
export async function addCampaign(
  tx: Tx,
  {
    campaignId,
    appId,
    notification,
    audience,
    createdAt,
    ledgerSecs,
    schedule,
  }: Omit<NewCampaign, "audience"> & {
    /** For a campaign of a schedule (its `seq`), only what differs from the schedule's audience. */
    readonly audience: Partial<Audience>;
    readonly schedule?: number;
  },
  { maxUnfinished, maxRunning, maxRunningOfApp }: Room,
): Promise<"created" | "too-many"> {
  await tx.get(lockApp, appId);
  if (((await tx.get(countUnfinished, appId))?.count ?? 0) >= maxUnfinished) return "too-many";
  const { notificationId, title, body, targetUrl } = notification;
  const [ledger] = await tx.all(putKey, appId, notificationId, stateSecs(tx.clock) + ledgerSecs);
  if (!ledger) throw new Error("a row that was just written is missing");
  const [added] = await tx.all(
    insertCampaign,
    campaignId,
    appId,
    ledger.key,
    notificationId,
    title,
    body,
    targetUrl,
    createdAt,
    tx.node.bootId,
    maxRunning,
    maxRunningOfApp,
    schedule ?? null,
  );
  if (!added) throw new Error("a row that was just written is missing");
  await tx.run(putAudience, added.seq, JSON.stringify(audience));
  return "created";
}

/**
 * @param options.bootId the process that takes campaigns
 * @param options.runLimits the run limits of the process; if it is full, a new campaign is left to the next node with room
 * @param options.writes those of the ledger of the same node
 */
export function createCampaigns(
  db: StateDb,
  options: { readonly bootId: string; readonly runLimits: RunLimits; readonly writes: LedgerWrites },
): CampaignStore {
  const { bootId, runLimits, writes } = options;
  const create = db.decision<[NewCampaign, Room], "created" | "too-many">("campaigns.create", addCampaign);

  const find = async (campaignId: string) => (await db.get(seqOf, campaignId))?.seq ?? -1;
  return {
    ...createRuns(db, { bootId, writes }),
    create: (campaign, maxUnfinished) => create(campaign, { maxUnfinished, ...runLimits }),

    async find(campaignId) {
      const row = await db.get(campaignById, campaignId);
      return row && toCampaign(row);
    },

    list: async ({ appId, before, max, isGrouped }) =>
      (await db.all(isGrouped ? groupedPageOfApp : pageOfApp, appId, before, max)).map(toCampaign),

    sums: async (schedules) =>
      (await db.all(sumsOf, schedules)).map((row) => {
        const isOver = row.unfinished === 0 && row.waiting === 0;
        return {
          schedule: row.schedule,
          parts: row.parts,
          status: isOver ? (row.aborted > 0 ? "aborted" : "completed") : "running",
          counts: { success: row.success, failure: row.failure, notAttempted: row.not_attempted },
          audienceCount: isOver ? row.audience : null,
          startedAt: row.started_at,
          endedAt: isOver ? row.ended_at : null,
        };
      }),

    departures: (campaigns) => readDepartures(db, campaigns),

    ended: async (campaignIds) => (await db.all(endedOf, JSON.stringify(campaignIds))).map(({ id }) => id),

    async waiting() {
      const { count, oldest } = (await db.get(waitingNow)) ?? { count: 0, oldest: null };
      return { count, oldestCreatedAt: oldest };
    },

    breakdown: async (campaignId, maxHosts) => readBreakdown(db, await find(campaignId), maxHosts),

    totals: async (campaignId, maxClients) => readTotals(db, await find(campaignId), maxClients),

    async sentBefore({ appId, notificationId }, tokens) {
      const groups = groupByBlock(tokens);
      const clients = [...new Set(groups.map(({ clientFid }) => clientFid))];
      const blocks = [...new Set(groups.map(({ block }) => block))];
      // Expiry is checked only with the state's time.
      const rows = await db.all(sentOfBlocks, appId, notificationId, clients, blocks, 0);
      const stored = Map.groupBy(rows, (row) => `${row.client_fid} ${row.block}`);
      return groups.flatMap((group) =>
        tokensIn(
          group,
          (stored.get(`${group.clientFid} ${group.block}`) ?? []).map(({ fids }) => fids),
        ),
      );
    },

    retryableFids: async (campaignId, after, max) =>
      (await db.all(retryableFids, campaignId, after, max)).map(({ fid }) => fid),
  };
}
