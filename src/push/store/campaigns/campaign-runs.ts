import { jsonRows, sql, sqliteSpelling } from "../../../db/state/sql.ts";
import { stateSecs } from "../../../db/state/state-clock.ts";
import type { StateDb } from "../../../db/state/state-db.ts";
import type { Row } from "../../../db/state/table.ts";
import type { campaigns } from "../tables.ts";
import { resetNotAttemptedCounts } from "./campaign-counts.ts";
import { type CampaignRow, campaignColumns, toCampaign } from "./campaign-row.ts";
import type {
  Audience,
  CampaignRoom,
  CampaignRun,
  CampaignStatus,
  CampaignStore,
  CampaignWork,
} from "./campaign-store.ts";
import { isOwnRun, type LedgerWrites } from "./ledger-table.ts";

/** A campaign before a run. */
type FreeRow = CampaignRow & Row<typeof campaigns, "dedupe_key" | "runner" | "epoch" | "runs">;
interface WorkRow {
  readonly seq: number;
  readonly audience: string;
  readonly ledger_ends_at: number;
}

type FreeParams = [nowMs: number, bootId: string, runningSeqs: readonly number[]];

/**
 * A campaign that this node may take. PostgreSQL's clock decides which nodes are alive: a node whose own clock is wrong must not consider
 * all others dead. With SQLite, every runner except this process has ended.
 */
const isFree = {
  postgres: `ended_at IS NULL AND not_before_ms <= $1 AND NOT seq = ANY ($3::bigint[])
    AND (runner IS NULL OR runner = $2::uuid OR runner <> ALL (ARRAY(SELECT boot FROM nodes
      WHERE ends_at_ms > extract(epoch FROM clock_timestamp()) * 1000)))`,
  sqlite: "ended_at IS NULL AND not_before_ms <= $1 AND NOT seq = ANY ($3::bigint[])",
};
const selectAnyFree = (free: string) => `SELECT 1 AS one FROM campaigns WHERE ${free} LIMIT 1`;
const anyFree = sql<{ one: number }, FreeParams>(
  "campaigns.any-free",
  selectAnyFree(isFree.postgres),
  sqliteSpelling(selectAnyFree(isFree.sqlite)),
);
/** Rows that `chosen` reads may change until they are locked, so the locking part checks them again. */
const selectFree = (free: string, isChosen: string) =>
  `WITH free AS (
     SELECT seq, app_id, row_number() OVER (PARTITION BY app_id ORDER BY seq) AS nth FROM campaigns WHERE ${free}
   ), here AS (
     SELECT r.value::jsonb ->> 0 AS app_id, (r.value::jsonb ->> 1)::bigint AS running FROM elements($4) r
   ), chosen AS (
     SELECT free.seq FROM free LEFT JOIN here ON here.app_id = free.app_id
     WHERE nth <= $5::bigint - coalesce(running, 0) ORDER BY free.seq LIMIT $6
   )
   SELECT ${campaignColumns}, dedupe_key, runner, epoch, runs FROM campaigns
   WHERE seq ${isChosen} AND ${free} ORDER BY seq FOR NO KEY UPDATE SKIP LOCKED`;
/** The rows before the run, locked. */
const lockFree = sql<FreeRow, [...FreeParams, runningOfApps: string, maxRunningOfApp: number, max: number]>(
  "campaigns.lock-free",
  selectFree(isFree.postgres, "= ANY (ARRAY(SELECT seq FROM chosen))"),
  sqliteSpelling(selectFree(isFree.sqlite, "IN (SELECT seq FROM chosen)")),
);
const readWork = sql<WorkRow, [seqs: readonly number[]]>(
  "campaigns.work",
  `SELECT c.seq, a.audience, k.expires_at AS ledger_ends_at FROM campaigns c
   JOIN campaign_audiences a ON a.campaign = c.seq JOIN dedupe_keys k ON k.key = c.dedupe_key
   WHERE c.seq = ANY ($1::bigint[])`,
);
const audiencesOf = sql<{ seq: number; audience: string }, [schedules: readonly number[]]>(
  "schedules.audiences",
  "SELECT seq, (content::jsonb -> 'audience')::text AS audience FROM schedules WHERE seq = ANY ($1::bigint[])",
  "SELECT seq, json_extract(content, '$.audience') AS audience FROM schedules WHERE seq IN (SELECT value FROM json_each(?1))",
);
const startRuns = sql<unknown, [bootId: string, nowSecs: number, seqs: readonly number[]]>(
  "campaigns.start-runs",
  `UPDATE campaigns SET runner = $1::uuid, epoch = epoch + 1, runs = runs + 1, status = 'running',
     started_at = coalesce(started_at, $2), not_attempted_count = 0, ledger_writes = 0
   WHERE seq = ANY ($3::bigint[])`,
);
const setAudienceCount = sql<unknown, [seq: number, epoch: number, bootId: string, tokens: number]>(
  "campaigns.set-audience-count",
  `UPDATE campaigns SET audience_count = $4
   WHERE seq = $1 AND epoch = $2 AND runner = $3::uuid AND ended_at IS NULL`,
);
const releaseRun = sql<unknown, [seq: number, epoch: number, bootId: string, notBeforeMs: number]>(
  "campaigns.release-run",
  `UPDATE campaigns SET runner = NULL, not_before_ms = $4
   WHERE seq = $1 AND epoch = $2 AND runner = $3::uuid AND ended_at IS NULL`,
);
const endRun = sql<
  unknown,
  [seq: number, epoch: number, bootId: string, status: CampaignStatus, nowSecs: number, writes: number]
>(
  "campaigns.end-run",
  `UPDATE campaigns SET status = CASE WHEN ended_at IS NULL THEN $4 ELSE status END,
     ended_at = coalesce(ended_at, $5),
     audience_count = CASE WHEN $4 = 'completed'
       THEN success_count + failure_count + not_attempted_count ELSE audience_count END
   WHERE seq = $1 AND epoch = $2 AND runner = $3::uuid AND (ended_at IS NOT NULL OR ledger_writes = $6)`,
);
const deleteAudience = sql<unknown, [campaign: number]>(
  "campaign-audiences.delete",
  "DELETE FROM campaign_audiences WHERE campaign = $1",
);
/** Creates the operations of runs. One process at a time runs a campaign, and earlier runs cannot write any more. */
export function createRuns(
  db: StateDb,
  { bootId, writes }: { readonly bootId: string; readonly writes: LedgerWrites },
): Pick<CampaignStore, "take" | "setAudienceCount" | "release" | "end"> {
  const take = db.decision("campaigns.take", async (tx, room: CampaignRoom, nowSecs: number) => {
    const { running, maxRunning, maxRunningOfApp } = room;
    const byApp = Map.groupBy(running, ({ appId }) => appId);
    const free = await tx.all(
      lockFree,
      tx.clock.nowMs(),
      tx.node.bootId,
      running.map(({ seq }) => seq),
      jsonRows([...byApp].map(([appId, ofApp]) => [appId, ofApp.length])),
      maxRunningOfApp,
      maxRunning - running.length,
    );
    const seqs = free.map(({ seq }) => seq);
    // Only in a damaged database does a campaign lack its audience or schedule.
    const works = new Map((await tx.all(readWork, seqs)).map((row) => [row.seq, row]));
    const schedules = [...new Set(free.flatMap(({ schedule }) => schedule ?? []))];
    const audiences = new Map<number | null, Audience>();
    for (const { seq, audience } of await tx.all(audiencesOf, schedules))
      audiences.set(seq, JSON.parse(audience));
    // Without the audience of its schedule, its own would be everyone.
    for (const { seq, schedule } of free)
      if (schedule !== null && !audiences.has(schedule)) works.delete(seq);
    await tx.run(startRuns, tx.node.bootId, nowSecs, [...works.keys()]);
    await resetNotAttemptedCounts(tx, [...works.keys()]);
    return free.flatMap((row) => {
      const work = works.get(row.seq);
      const node = { bootId: tx.node.bootId, nowSecs: stateSecs(tx.clock) };
      return work ? [toWork(row, work, { ...node, scheduled: audiences.get(row.schedule) })] : [];
    });
  });

  const setCount = db.decision(
    "campaigns.setAudienceCount",
    async (tx, { seq, epoch }: CampaignRun, tokens: number) => {
      await tx.run(setAudienceCount, seq, epoch, tx.node.bootId, tokens);
    },
    { isOneStatement: true },
  );

  const release = db.decision(
    "campaigns.release",
    async (tx, { seq, epoch }: CampaignRun, delayMs: number) => {
      await tx.run(releaseRun, seq, epoch, tx.node.bootId, tx.clock.nowMs() + delayMs);
    },
    { isOneStatement: true },
  );

  const end = db.decision<
    [...Parameters<CampaignStore["end"]>, number],
    Awaited<ReturnType<CampaignStore["end"]>>
  >(
    "campaigns.end",
    async (tx, { seq, epoch }, status, nowSecs, written) => {
      const { bootId } = tx.node;
      if ((await tx.run(endRun, seq, epoch, bootId, status, nowSecs, written)) === 0)
        return (await tx.get(isOwnRun, seq, epoch, bootId)) ? "undone" : "taken";
      await tx.run(deleteAudience, seq);
      return "ended";
    },
    { isIdempotent: true },
  );

  return {
    async take(room, nowSecs) {
      const seqs = room.running.map(({ seq }) => seq);
      writes.keepOnly(seqs);
      if (room.maxRunning <= seqs.length) return [];
      // Also matches campaigns that may be taken later. A read that finds none costs less than a write that finds none.
      if (!(await db.get(anyFree, Number.MAX_SAFE_INTEGER, bootId, seqs))) return [];
      return take(room, nowSecs);
    },

    setAudienceCount: (run, tokens) => setCount(runOf(run), tokens),

    release: (run, delayMs) => release(runOf(run), delayMs),

    end: (run, status, nowSecs) => end(runOf(run), status, nowSecs, writes.of(run)),
  };
}

/** Returns only the fields of the run: the others would be copied to the writer with each call. */
function runOf({ seq, epoch, ledgerKey }: CampaignRun): CampaignRun {
  return { seq, epoch, ledgerKey };
}

/**
 * Returns the work of the run that starts.
 *
 * @param scheduled the audience of its schedule
 * @param nowSecs by the state's clock
 */
function toWork(
  row: FreeRow,
  work: WorkRow,
  {
    bootId,
    nowSecs,
    scheduled,
  }: { readonly bootId: string; readonly nowSecs: number; readonly scheduled: Audience | undefined },
): CampaignWork {
  const { campaignId, appId, notification, createdAt } = toCampaign(row);
  const audience: Audience = { ...scheduled, ...JSON.parse(work.audience) };
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
    ledgerEndsAt: work.ledger_ends_at,
    isLedgerExpired: wasElsewhere && work.ledger_ends_at <= nowSecs,
  };
}
