import { unpackSources } from "../../../db/index/counts/score-sources.ts";
import {
  combinedScore,
  currentScoreRun,
  type ScoreKind,
  type ScoreRow,
  type ScoreRun,
  ScoreState,
  scoreRowsOf,
} from "../../../db/index/counts/scores.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { LinkType } from "../../../db/index/messages/columns.ts";
import { NotificationKind } from "../../../db/index/project/notifications.ts";
import { statement } from "../../../db/index/statement.ts";
import type { StorageHoldings } from "../../../protocol/storage.ts";
import type { ScoreSource } from "../../hydrate/users.ts";
import { storageOf } from "./registry.ts";

/** Why a score is lower than its evidence suggests. */
export type LoweredBy = "single_source" | "dormant_sources" | "label";

/** The score of an account, with the run that computed it. */
export interface AccountScore {
  readonly fid: number;
  /** From 0 to 1. */
  readonly score: number;
  readonly state: "scored" | "imported" | "unknown";
  readonly isSeed: boolean;
  /** The run that decided the score; undefined for an account without one. */
  readonly run: ScoreRun | undefined;
  /** Rank from 1 on, by evidence; null for an imported score. */
  readonly rank: number | null;
  readonly loweredBy: readonly LoweredBy[];
  /** The reason given in an imported file. */
  readonly note: string | null;
}

/** An account that contributed, with its acts that are still live. Times are in Unix seconds. */
export interface ScoreSourceAccount {
  readonly fid: number;
  /** Its share of all contributions, from 0 to 1. */
  readonly share: number;
  readonly follows: boolean;
  readonly replies: number;
  readonly reactions: number;
  readonly since: number | null;
}

export interface ScoreExplanation extends AccountScore {
  readonly sources: readonly ScoreSourceAccount[];
  /** The accounts on the way to a seed; empty if there is none within 6 steps. */
  readonly path: readonly number[];
  /** Time of the earliest live evidence of the listed sources, in Unix seconds; null without any. */
  readonly since: number | null;
  readonly storage: StorageHoldings;
}

const HUNDREDTHS = 100;
const MAX_PATH = 6;
/** Number of an account's newest mentions and replies that are searched for those by its sources. */
const MAX_ACTS = 5000;

const exists = statement<{ one: number }, [fid: number]>(
  "skeleton.score.fid-exists",
  "SELECT 1 AS one FROM fids WHERE fid = ?",
);
interface Evidence {
  readonly fid: number;
  readonly count: number;
  readonly since: number;
}
type OfSources = [fid: number, sourcesJson: string];
const followsOf = statement<Evidence, OfSources>(
  "skeleton.score.follows",
  `SELECT l.fid, 1 AS count, coalesce(l.displayed_at, l.timestamp) AS since
   FROM json_each(?2) j CROSS JOIN links l
   WHERE l.fid = j.value AND l.type = ${LinkType.Follow} AND l.target_fid = ?1`,
);
const repliesOf = statement<Evidence, OfSources>(
  "skeleton.score.replies",
  `SELECT actor_fid AS fid, count(*) AS count, min(timestamp) AS since
   FROM (SELECT actor_fid, timestamp FROM notifications
     WHERE fid = ?1 AND kind < ${NotificationKind.Like} ORDER BY timestamp DESC LIMIT ${MAX_ACTS}) below
   WHERE actor_fid IN (SELECT value FROM json_each(?2)) GROUP BY actor_fid`,
);
const reactionsOf = statement<Evidence, OfSources>(
  "skeleton.score.reactions",
  `SELECT r.fid, count(*) AS count, min(r.timestamp) AS since
   FROM json_each(?2) j CROSS JOIN reactions r
   WHERE r.fid = j.value AND r.target_fid = ?1 GROUP BY r.fid`,
);

/** Returns the scores of accounts, in the order of `fids`. Unregistered accounts are left out. */
export function accountScores(
  db: IndexDatabase,
  source: ScoreSource,
  fids: readonly number[],
): AccountScore[] {
  const registered = fids.filter((fid) => db.get(exists, fid) !== undefined);
  const runs = runsOf(db, source);
  const rows = (kind: ScoreKind) =>
    runs[kind] ? scoreRowsOf(db, runs[kind].id, registered) : new Map<number, ScoreRow>();
  const [computed, imported] = [rows("computed"), rows("imported")];
  return registered.map((fid) => accountScore(fid, source, runs, computed.get(fid), imported.get(fid)));
}

type Runs = Readonly<Record<ScoreKind, ScoreRun | undefined>>;

function runsOf(db: IndexDatabase, { mode }: ScoreSource): Runs {
  return {
    computed: mode === "imported" ? undefined : currentScoreRun(db, "computed"),
    imported: mode === "computed" ? undefined : currentScoreRun(db, "imported"),
  };
}

function accountScore(
  fid: number,
  { unknown }: ScoreSource,
  runs: Runs,
  computed: ScoreRow | undefined,
  imported: ScoreRow | undefined,
): AccountScore {
  const score = combinedScore(computed, imported);
  const isLabelled = score !== undefined && computed !== undefined && score < computed.score;
  const bits = computed?.state ?? 0;
  const has = (bit: number) => (bits & bit) !== 0;
  return {
    fid,
    score: score === undefined ? unknown : score / HUNDREDTHS,
    state: computed ? "scored" : imported ? "imported" : "unknown",
    isSeed: has(ScoreState.Seed),
    run: computed ? runs.computed : imported ? runs.imported : undefined,
    rank: computed?.rank ?? null,
    loweredBy: [
      ...(has(ScoreState.SingleSource) ? ["single_source" as const] : []),
      ...(has(ScoreState.DormantSources) ? ["dormant_sources" as const] : []),
      ...(isLabelled ? ["label" as const] : []),
    ],
    note: imported?.note ?? null,
  };
}

/**
 * Returns the score of an account with its evidence: the sources as stored by the run, their acts as the index has them now.
 * Undefined for an fid that is not registered.
 */
export function explainScore(
  db: IndexDatabase,
  source: ScoreSource,
  fid: number,
): ScoreExplanation | undefined {
  const account = accountScores(db, source, [fid])[0];
  if (!account) return undefined;
  const { run } = account;
  const row = run?.kind === "computed" ? scoreRowsOf(db, run.id, [fid]).get(fid) : undefined;
  const sources = sourceAccounts(db, fid, unpackSources(row?.sources ?? null));
  const times = sources.flatMap(({ since }) => since ?? []);
  return {
    ...account,
    sources,
    path: run && row ? pathToSeed(db, run.id, row) : [],
    since: times.length === 0 ? null : Math.min(...times),
    storage: storageOf(db, fid).holdings,
  };
}

function sourceAccounts(
  db: IndexDatabase,
  fid: number,
  stored: readonly { readonly fid: number; readonly share: number }[],
): ScoreSourceAccount[] {
  if (stored.length === 0) return [];
  const json = JSON.stringify(stored.map((each) => each.fid));
  const [follows, replies, reactions] = [followsOf, repliesOf, reactionsOf].map(
    (rows) => new Map(db.all(rows, fid, json).map((row) => [row.fid, row])),
  );
  return stored.map(({ fid: sourceFid, share }) => {
    const found = [follows, replies, reactions].map((rows) => rows?.get(sourceFid));
    const times = found.flatMap((each) => each?.since ?? []);
    return {
      fid: sourceFid,
      share,
      follows: found[0] !== undefined,
      replies: found[1]?.count ?? 0,
      reactions: found[2]?.count ?? 0,
      since: times.length === 0 ? null : Math.min(...times),
    };
  });
}

function pathToSeed(db: IndexDatabase, runId: number, row: ScoreRow): number[] {
  const path = [row.fid];
  for (let here: ScoreRow | undefined = row; here && here.viaFid !== 0 && path.length < MAX_PATH; ) {
    path.push(here.viaFid);
    here = scoreRowsOf(db, runId, [here.viaFid]).get(here.viaFid);
  }
  // Without a link towards a seed there is no path, unless the account is a seed itself.
  return path.length > 1 || (row.state & ScoreState.Seed) !== 0 ? path : [];
}
