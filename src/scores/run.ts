import { firstCastIdAt } from "../db/index/cast-id.ts";
import {
  allScores,
  currentScoreRun,
  type NewScoreRun,
  SCORES_PER_STEP,
  type ScoreKind,
  type ScoreRow,
  ScoreState,
  type ScoreStep,
} from "../db/index/counts/scores.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import { statement } from "../db/index/statement.ts";
import { UserError } from "../lib/failure.ts";
import { OnChainEventType } from "../protocol/wire/generated/on-chain.ts";
import { pathsFromSeeds, strongestSources } from "./explain.ts";
import { mapByMass } from "./mapping.ts";
import { CONSTANTS, computeTrust, METHOD, type Trust } from "./method.ts";
import { scanEvidence } from "./scan.ts";

/** Writes one step. Resolves when it is committed. See `writeScores`. */
export type WriteStep = (step: ScoreStep) => Promise<number>;

export interface ComputeOptions {
  readonly seeds: SeedSettings;
  readonly maxMemoryMb: number;
  /** Unix seconds. */
  readonly nowSecs: number;
  /** Awaited often, so that a stop is noticed. Throws to end the run. */
  readonly turn: () => Promise<void>;
}

/** Statistics of a run, stored with it. */
export type ComputeStats = {
  readonly accounts: number;
  readonly pairs: number;
  /** Number of pairs that were left out because memory was short. */
  readonly left_out: number;
  readonly rounds: number;
  /** Share of the accounts with a path from a seed. */
  readonly reached: number;
  /** Number of accounts with scores below 0.2, 0.4, 0.6, 0.8, and above. */
  readonly fifths: readonly number[];
  /** Number of accounts whose score moved by more than 0.2 since the previous run. */
  readonly moved: number;
  readonly seconds: number;
};

/** The scores of every registered account, before they are stored. */
export interface Computation {
  readonly run: NewScoreRun;
  readonly stats: Omit<ComputeStats, "seconds">;
  /** Ascending. */
  readonly fids: Float64Array;
  /** Returns the score of an fid in hundredths; undefined if it is not registered. */
  readonly scoreOf: (fid: number) => number | undefined;
  rows(): Generator<ScoreRow>;
}

const MEBIBYTE = 2 ** 20;
/** Turns, and rows of the result, after which garbage is collected: about 30 MB of it. */
const TURNS_PER_COLLECTION = 64;
const ROWS_PER_COLLECTION = 20_000;
const BIG_MOVE = 20;
const FIFTH = 20;

/**
 * Computes the scores of all accounts by svc-trust-1.
 *
 * @throws UserError without enough seeds; GraphTooLargeError when the network does not fit into the memory limit.
 */
export async function computeScores(db: IndexDatabase, options: ComputeOptions): Promise<Computation> {
  const { nowSecs, maxMemoryMb } = options;
  const turn = collecting(options.turn);
  const scan = await scanEvidence(db, { nowSecs, maxBytes: maxMemoryMb * MEBIBYTE, turn });
  const { graph, accountOf, leftOut } = scan;
  const { fids } = graph;
  const seedFids = findSeeds(db, options.seeds, { nowSecs, accounts: fids.length, accountOf });
  const seeds = seedFids.map(accountOf);
  const trust = await computeTrust(graph, seeds, nowSecs, turn);
  const mapped = mapByMass(trust.counted);
  await turn();
  const via = pathsFromSeeds(graph, trust, seeds);
  const scoreOf = (fid: number) => mapped.scores[accountOf(fid)];
  const isSeed = new Set(seeds);
  return {
    run: {
      kind: "computed",
      at: nowSecs,
      method: METHOD,
      params: CONSTANTS,
      seeds: seedFids,
    },
    stats: {
      accounts: fids.length,
      pairs: graph.sources.length,
      left_out: leftOut,
      rounds: trust.rounds,
      reached: shareReached(trust),
      fifths: fifthsOf(mapped.scores),
      moved: movedSince(db, scoreOf),
    },
    fids,
    scoreOf,
    *rows() {
      for (const [account, fid] of fids.entries()) {
        if (account % ROWS_PER_COLLECTION === 0) Bun.gc(true);
        const viaAccount = via[account] ?? 0;
        yield {
          fid,
          score: mapped.scores[account] ?? 0,
          state: (trust.lowered[account] ?? 0) | (isSeed.has(account) ? ScoreState.Seed : 0),
          rank: mapped.ranks[account] ?? 0,
          viaFid: viaAccount === 0 ? 0 : (fids[viaAccount - 1] ?? 0),
          sources: strongestSources(graph, trust, account),
          note: null,
        };
      }
    },
  };
}

/**
 * Returns a turn that collects garbage now and then. The engine counts the arrays of the graph at their maximum size, which
 * the system has not allocated yet, and would let as much garbage accumulate.
 */
function collecting(turn: () => Promise<void>): () => Promise<void> {
  let turns = 0;
  return async () => {
    await turn();
    turns += 1;
    if (turns % TURNS_PER_COLLECTION === 0) Bun.gc(true);
  };
}

function shareReached({ trust }: Trust): number {
  let reached = 0;
  for (const value of trust) if (value > 0) reached += 1;
  return trust.length === 0 ? 0 : reached / trust.length;
}

function fifthsOf(scores: Uint8Array): number[] {
  const fifths = [0, 0, 0, 0, 0];
  for (const score of scores) {
    const fifth = Math.min(4, Math.floor(score / FIFTH));
    fifths[fifth] = (fifths[fifth] ?? 0) + 1;
  }
  return fifths;
}

function movedSince(db: IndexDatabase, scoreOf: (fid: number) => number | undefined): number {
  const former = currentScoreRun(db, "computed");
  let moved = 0;
  if (former)
    for (const { fid, score } of allScores(db, former.id))
      if (Math.abs((scoreOf(fid) ?? 0) - score) > BIG_MOVE) moved += 1;
  return moved;
}

/** Stores the rows of a run in steps, puts it into effect, and deletes the rows that are no longer kept. */
export async function storeRun(
  { run, rows, stats }: { run: NewScoreRun; rows: Iterable<ScoreRow>; stats: () => object },
  write: WriteStep,
): Promise<void> {
  await sweepAll(run.kind, write);
  const runId = await write({ step: "begin", run });
  let chunk: ScoreRow[] = [];
  for (const row of rows) {
    chunk.push(row);
    if (chunk.length < SCORES_PER_STEP) continue;
    await write({ step: "rows", runId, rows: chunk });
    chunk = [];
  }
  if (chunk.length > 0) await write({ step: "rows", runId, rows: chunk });
  await write({ step: "finish", runId, stats: stats() });
  await sweepAll(run.kind, write);
}

async function sweepAll(kind: ScoreKind, write: WriteStep): Promise<void> {
  while ((await write({ step: "sweep", kind })) > 0);
}

/** Computes and stores the scores. Returns the statistics of the run. */
export async function runScores(
  db: IndexDatabase,
  options: ComputeOptions,
  write: WriteStep,
): Promise<ComputeStats> {
  const startedAt = performance.now();
  const { run, stats, rows } = await computeScores(db, options);
  const done = (): ComputeStats => ({ ...stats, seconds: Math.round(performance.now() - startedAt) / 1000 });
  await storeRun({ run, rows: rows(), stats: done }, write);
  return done();
}

/** The accounts from which trust flows: `scores.seeds`, or the default if it is empty, with two amendments. */
interface SeedSettings {
  readonly seeds: readonly number[];
  readonly seedsAdd: readonly number[];
  readonly notSeeds: readonly number[];
}

const DAY_SECS = 86_400;
const YEAR_SECS = 365 * DAY_SECS;
const MAX_DEFAULT_SEEDS = 500;
const MIN_SEEDS = 20;
const MIN_FOLLOWERS = 20;
const RECENT_SECS = 90 * DAY_SECS;
const MIN_AGE_SECS = 2 * YEAR_SECS;
/** In a network that is younger than the required age, the first tenth counts as old enough. */
const FIRST_SHARE = 0.1;
const CANDIDATES_PER_READ = 500;

const oldEnough = statement<
  { fid: number; isSeed: number },
  [after: number, registeredUpTo: number, castsFrom: number, limit: number]
>(
  "score-seeds.candidates",
  `SELECT f.fid, f.registered_at <= ?2
     AND EXISTS (SELECT 1 FROM follow_counts c WHERE c.fid = f.fid AND c.followers >= ${MIN_FOLLOWERS})
     AND EXISTS (SELECT 1 FROM on_chain_events e
       WHERE e.type = ${OnChainEventType.EVENT_TYPE_STORAGE_RENT} AND e.fid = f.fid)
     AND (EXISTS (SELECT 1 FROM casts c WHERE c.fid = f.fid AND (c.parent_id IS NOT NULL) = 0 AND c.id >= ?3)
       OR EXISTS (SELECT 1 FROM casts c WHERE c.fid = f.fid AND (c.parent_id IS NOT NULL) = 1 AND c.id >= ?3)) AS isSeed
   FROM fids f WHERE f.fid > ?1 AND f.registered_at IS NOT NULL ORDER BY f.fid LIMIT ?4`,
);
const earliest = statement<{ at: number }, [limit: number]>(
  "score-seeds.earliest",
  "SELECT registered_at AS at FROM fids WHERE fid > 0 AND registered_at IS NOT NULL ORDER BY fid LIMIT ?",
);

/**
 * Returns the fids of the seeds, ascending. By default they are the 500 lowest fids of accounts that paid for storage, cast
 * within 90 days, have 20 followers and registered two years ago. In a younger network, its first tenth may be seeds.
 *
 * @param accounts the number of registered accounts.
 * @throws UserError for fewer than 20.
 */
function findSeeds(
  db: IndexDatabase,
  settings: SeedSettings,
  { nowSecs, accounts, accountOf }: { nowSecs: number; accounts: number; accountOf: (fid: number) => number },
): number[] {
  const without = new Set(settings.notSeeds);
  const named = settings.seeds.length > 0 ? settings.seeds : defaultSeeds(db, { nowSecs, accounts, without });
  const seeds = [...new Set([...named, ...settings.seedsAdd])]
    .filter((fid) => !without.has(fid) && accountOf(fid) >= 0)
    .sort((a, b) => a - b);
  if (seeds.length < MIN_SEEDS)
    throw new UserError(
      `only ${seeds.length} registered accounts are seeds, and at least ${MIN_SEEDS} are needed: name more by scores.seeds or scores.seeds_add`,
    );
  return seeds;
}

function defaultSeeds(
  db: IndexDatabase,
  { nowSecs, accounts, without }: { nowSecs: number; accounts: number; without: ReadonlySet<number> },
): number[] {
  const first = db.get(earliest, 1)?.at ?? nowSecs;
  const isYoung = first > nowSecs - MIN_AGE_SECS;
  let left = isYoung ? Math.ceil(FIRST_SHARE * accounts) : Number.POSITIVE_INFINITY;
  const registeredUpTo = isYoung ? nowSecs : nowSecs - MIN_AGE_SECS;
  const castsFrom = firstCastIdAt(nowSecs - RECENT_SECS);
  const seeds: number[] = [];
  for (let after = 0; left > 0; ) {
    const rows = db.all(oldEnough, after, registeredUpTo, castsFrom, Math.min(left, CANDIDATES_PER_READ));
    for (const { fid, isSeed } of rows) {
      if (isSeed === 1 && !without.has(fid)) seeds.push(fid);
      if (seeds.length === MAX_DEFAULT_SEEDS) return seeds;
    }
    const last = rows.at(-1);
    if (last === undefined) return seeds;
    after = last.fid;
    left -= rows.length;
  }
  return seeds;
}
