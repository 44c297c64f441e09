import type { PgPool } from "../../../db/postgres/pool.ts";
import type { PgPools } from "../../../db/postgres/pools.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import { type StateClock, stateSecs } from "../../../db/state/state-clock.ts";
import type { StateNode } from "../../../db/state/state-node.ts";
import { type CampaignRow, campaignColumns, toCampaign, toWork, type WorkRow } from "../campaign-row.ts";
import type { CampaignStatus, CampaignStore, RunLimits } from "../campaign-store.ts";
import { groupByBlock, tokensIn } from "../ledger-block.ts";
import { readBreakdown, readTotals, resetNotAttemptedCounts } from "./campaign-counts.ts";
import type { LedgerWrites } from "./ledger-writes.ts";

/** A missing row locks nothing, and the run of a campaign without an app aborts it. */
const lockApp = pgStatement<{ one: number }, [appId: string]>(
  "campaigns.lock-app",
  "SELECT 1 AS one FROM apps WHERE app_id = $1 FOR NO KEY UPDATE",
);
const countUnfinished = pgStatement<{ count: number }, [appId: string]>(
  "campaigns.count-unfinished",
  "SELECT count(*) AS count FROM campaigns WHERE app_id = $1 AND ended_at IS NULL",
);
const putKey = pgStatement<{ key: number }, [appId: string, notificationId: string, expiresAt: number]>(
  "dedupe-keys.put",
  `INSERT INTO dedupe_keys AS k (app_id, notification_id, expires_at) VALUES ($1, $2, $3)
   ON CONFLICT (app_id, notification_id) DO UPDATE SET expires_at = greatest(k.expires_at, excluded.expires_at)
   RETURNING key`,
);
/** Its own node runs it if that has room. */
const insertCampaign = pgStatement<
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
    audience: string,
    bootId: string,
    maxRunning: number,
    maxRunningOfApp: number,
  ]
>(
  "campaigns.insert",
  `WITH own AS MATERIALIZED (SELECT app_id FROM campaigns WHERE ended_at IS NULL AND runner = $10::uuid),
   added AS (
     INSERT INTO campaigns (campaign_id, app_id, dedupe_key, notification_id, title, body, target_url, created_at,
       status, success_count, failure_count, not_attempted_count, runner)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'queued', 0, 0, 0,
       CASE WHEN (SELECT count(*) FROM own) < $11::bigint
         AND (SELECT count(*) FROM own WHERE app_id = $2) < $12::bigint THEN $10::uuid END)
     RETURNING seq
   )
   INSERT INTO campaign_audiences (campaign, audience) SELECT seq, $9 FROM added`,
);
const campaignById = pgStatement<CampaignRow, [campaignId: string]>(
  "campaigns.find",
  `SELECT ${campaignColumns} FROM campaigns WHERE campaign_id = $1`,
);
const seqOf = pgStatement<{ seq: number }, [campaignId: string]>(
  "campaigns.seq",
  "SELECT seq FROM campaigns WHERE campaign_id = $1",
);
const pageOfApp = pgStatement<CampaignRow, [appId: string, before: number, max: number]>(
  "campaigns.page",
  `SELECT ${campaignColumns} FROM campaigns WHERE app_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3`,
);

/**
 * A campaign that this node may take, with the parameters of `FreeParams`. PostgreSQL's clock decides which nodes are alive: a
 * node whose own clock is wrong must not take all others for dead.
 */
const isFree = `ended_at IS NULL AND not_before_ms <= $1 AND seq <> ALL ($3::bigint[])
  AND (runner IS NULL OR runner = $2::uuid OR runner <> ALL (ARRAY(SELECT boot FROM nodes
    WHERE ends_at_ms > extract(epoch FROM clock_timestamp()) * 1000)))`;
type FreeParams = [nowMs: number, bootId: string, runningSeqs: readonly number[]];

const anyFree = pgStatement<{ one: number }, FreeParams>(
  "campaigns.any-free",
  `SELECT 1 AS one FROM campaigns WHERE ${isFree} LIMIT 1`,
);
/**
 * The rows before the run, locked. `chosen` reads what may change until the lock is there, so the locking part asks again.
 */
const lockFree = pgStatement<
  Omit<WorkRow, "audience" | "ledger_ends_at">,
  [
    ...FreeParams,
    apps: readonly string[],
    runningOfApps: readonly number[],
    maxRunningOfApp: number,
    max: number,
  ]
>(
  "campaigns.lock-free",
  `WITH free AS (
     SELECT seq, app_id, row_number() OVER (PARTITION BY app_id ORDER BY seq) AS nth
     FROM campaigns WHERE ${isFree}
   ), chosen AS (
     SELECT free.seq FROM free
     LEFT JOIN unnest($4::text[], $5::bigint[]) AS here (app_id, running) ON here.app_id = free.app_id
     WHERE nth <= $6::bigint - coalesce(running, 0) ORDER BY free.seq LIMIT $7
   )
   SELECT ${campaignColumns}, dedupe_key, runner, epoch, runs FROM campaigns
   WHERE seq = ANY (ARRAY(SELECT seq FROM chosen)) AND ${isFree}
   ORDER BY seq FOR NO KEY UPDATE SKIP LOCKED`,
);
const readWork = pgStatement<
  { seq: number; audience: string; ledger_ends_at: number },
  [seqs: readonly number[]]
>(
  "campaigns.work",
  `SELECT c.seq, a.audience, k.expires_at AS ledger_ends_at FROM unnest($1::bigint[]) AS n (seq)
   JOIN campaigns c ON c.seq = n.seq
   JOIN campaign_audiences a ON a.campaign = c.seq JOIN dedupe_keys k ON k.key = c.dedupe_key`,
);
const startRuns = pgStatement<unknown, [bootId: string, nowSecs: number, seqs: readonly number[]]>(
  "campaigns.start-runs",
  `UPDATE campaigns SET runner = $1::uuid, epoch = epoch + 1, runs = runs + 1, status = 'running',
     started_at = coalesce(started_at, $2), not_attempted_count = 0, ledger_writes = 0
   WHERE seq = ANY ($3::bigint[])`,
);
const setAudienceCount = pgStatement<unknown, [seq: number, epoch: number, bootId: string, tokens: number]>(
  "campaigns.set-audience-count",
  `UPDATE campaigns SET audience_count = $4
   WHERE seq = $1 AND epoch = $2 AND runner = $3::uuid AND ended_at IS NULL`,
);
const releaseRun = pgStatement<unknown, [seq: number, epoch: number, bootId: string, notBeforeMs: number]>(
  "campaigns.release-run",
  `UPDATE campaigns SET runner = NULL, not_before_ms = $4
   WHERE seq = $1 AND epoch = $2 AND runner = $3::uuid AND ended_at IS NULL`,
);
const endRun = pgStatement<
  { seq: number },
  [seq: number, epoch: number, bootId: string, status: CampaignStatus, nowSecs: number, writes: number]
>(
  "campaigns.end-run",
  `WITH ended AS (
     UPDATE campaigns SET status = CASE WHEN ended_at IS NULL THEN $4 ELSE status END,
       ended_at = coalesce(ended_at, $5),
       audience_count = CASE WHEN $4 = 'completed'
         THEN success_count + failure_count + not_attempted_count ELSE audience_count END
     WHERE seq = $1 AND epoch = $2 AND runner = $3::uuid
       AND (ended_at IS NOT NULL OR ledger_writes = $6) RETURNING seq
   ), gone AS (DELETE FROM campaign_audiences WHERE campaign = (SELECT seq FROM ended))
   SELECT seq FROM ended`,
);
const isOwnRun = pgStatement<{ one: number }, [seq: number, epoch: number, bootId: string]>(
  "campaigns.is-own-run",
  "SELECT 1 AS one FROM campaigns WHERE seq = $1 AND epoch = $2 AND runner = $3::uuid",
);
const endedOf = pgStatement<{ id: string }, [campaignIds: readonly string[]]>(
  "campaigns.ended-of",
  `SELECT id FROM unnest($1::text[]) AS asked (id) WHERE NOT EXISTS
     (SELECT 1 FROM campaigns WHERE campaign_id = asked.id AND ended_at IS NULL)`,
);
const waitingNow = pgStatement<{ count: number; oldest: number | null }>(
  "campaigns.waiting",
  `SELECT count(*) AS count, min(created_at) AS oldest FROM campaigns
   WHERE ended_at IS NULL AND (status = 'queued' OR runner IS NULL)`,
);
const retryableFids = pgStatement<{ fid: number }, [campaignId: string, after: number, max: number]>(
  "campaign-retryable.page",
  `SELECT fid FROM campaign_retryable
   WHERE campaign = (SELECT seq FROM campaigns WHERE campaign_id = $1) AND fid > $2 ORDER BY fid LIMIT $3`,
);

/** The product of clients and blocks: a page has few clients, and its fids are close together. */
const sentOfBlocks = pgStatement<
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
     AND client_fid = ANY ($3::bigint[]) AND block = ANY ($4::bigint[]) AND sent AND expires_at > $5`,
);

/**
 * Creates the campaign store of a node. Runs are those of its boot.
 *
 * @param writes of the ledger of the same node
 * @param limits what the node runs at most; a new campaign of a full node is left to the next node with room
 */
export function createPostgresCampaigns(
  { main }: Pick<PgPools, "main">,
  clock: StateClock,
  { bootId }: Pick<StateNode, "bootId">,
  limits: RunLimits,
  writes: LedgerWrites,
): CampaignStore {
  return {
    ...campaignReads(main, clock),

    create: (campaign, maxUnfinished) =>
      main.transaction(async (tx) => {
        const { campaignId, appId, notification, audience, createdAt, ledgerSecs } = campaign;
        await tx.get(lockApp, appId);
        // A former try was committed, and its answer was lost.
        if (await tx.get(seqOf, campaignId)) return "created";
        const unfinished = await tx.get(countUnfinished, appId);
        if ((unfinished?.count ?? 0) >= maxUnfinished) return "too-many";
        const { notificationId, title, body, targetUrl } = notification;
        const row = await tx.get(putKey, appId, notificationId, stateSecs(clock) + ledgerSecs);
        if (!row) throw new Error("a row that was just written is missing");
        await tx.run(
          insertCampaign,
          campaignId,
          appId,
          row.key,
          notificationId,
          title,
          body,
          targetUrl,
          createdAt,
          JSON.stringify(audience),
          bootId,
          limits.maxRunning,
          limits.maxRunningOfApp,
        );
        return "created";
      }),

    async take({ running, maxRunning, maxRunningOfApp }, nowSecs) {
      const max = maxRunning - running.length;
      const seqs = running.map(({ seq }) => seq);
      if (max <= 0 || !(await main.get(anyFree, clock.nowMs(), bootId, seqs))) return [];
      const runningOfApp = new Map<string, number>();
      for (const { appId } of running) runningOfApp.set(appId, (runningOfApp.get(appId) ?? 0) + 1);
      return main.transaction(async (tx) => {
        const free = await tx.all(
          lockFree,
          clock.nowMs(),
          bootId,
          seqs,
          [...runningOfApp.keys()],
          [...runningOfApp.values()],
          maxRunningOfApp,
          max,
        );
        if (free.length === 0) return [];
        const works = new Map(
          (
            await tx.all(
              readWork,
              free.map(({ seq }) => seq),
            )
          ).map((row) => [row.seq, row]),
        );
        const taken = [...works.keys()];
        await tx.run(startRuns, bootId, nowSecs, taken);
        await resetNotAttemptedCounts(tx, taken);
        return free.flatMap((row) => {
          const work = works.get(row.seq);
          return work ? [toWork({ ...row, ...work }, bootId, stateSecs(clock))] : [];
        });
      });
    },

    async setAudienceCount({ seq, epoch }, tokens) {
      await main.run(setAudienceCount, seq, epoch, bootId, tokens);
    },

    async release(run, delayMs) {
      const { seq, epoch } = run;
      writes.delete(run);
      await main.run(releaseRun, seq, epoch, bootId, clock.nowMs() + delayMs);
    },

    async end(run, status, nowSecs) {
      const { seq, epoch } = run;
      const ended = await main.get(endRun, seq, epoch, bootId, status, nowSecs, writes.of(run));
      const loss = ended || (await main.get(isOwnRun, seq, epoch, bootId)) ? "undone" : "taken";
      writes.delete(run);
      return ended ? "ended" : loss;
    },
  };
}

function campaignReads(
  db: PgPool,
  clock: StateClock,
): Pick<
  CampaignStore,
  "find" | "list" | "ended" | "waiting" | "breakdown" | "totals" | "sentBefore" | "retryableFids"
> {
  const find = async (campaignId: string) => (await db.get(seqOf, campaignId))?.seq ?? -1;
  return {
    async find(campaignId) {
      const row = await db.get(campaignById, campaignId);
      return row && toCampaign(row);
    },

    list: async ({ appId, before, max }) => (await db.all(pageOfApp, appId, before, max)).map(toCampaign),

    ended: async (campaignIds) => (await db.all(endedOf, campaignIds)).map(({ id }) => id),

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
      const rows = await db.all(sentOfBlocks, appId, notificationId, clients, blocks, stateSecs(clock));
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
