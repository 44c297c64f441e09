import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";

/** Origin of scores: the method of this program, or a file of the operator. */
export type ScoreKind = "computed" | "imported";

/** Bits of `state`. A capping label lowers a computed score. */
export const ScoreState = { SingleSource: 1, DormantSources: 2, Seed: 4, CappingLabel: 8 } as const;

/** The score of an account in a run. See the table for the fields. */
export interface ScoreRow {
  readonly fid: number;
  /** Hundredths. */
  readonly score: number;
  readonly state: number;
  readonly rank: number;
  readonly viaFid: number;
  readonly sources: Uint8Array | null;
  readonly note: string | null;
}

/** A run before it has rows. */
export interface NewScoreRun {
  readonly kind: ScoreKind;
  /** Unix seconds. */
  readonly at: number;
  readonly method: string;
  readonly params: object;
  readonly seeds: readonly number[];
}

export interface ScoreRun {
  readonly id: number;
  readonly kind: ScoreKind;
  readonly at: number;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly seeds: readonly number[];
  readonly stats: Readonly<Record<string, unknown>>;
}

/** Rows per step, which is a commit of about 20 ms. */
export const SCORES_PER_STEP = 10_000;
/** The current run of a kind and the one before it. */
const KEPT_RUNS = 2;

/**
 * A step of a run, each one a transaction of the writer. Returns the run's id for `begin`, otherwise the number of rows it
 * changed.
 */
export type ScoreStep =
  | { readonly step: "begin"; readonly run: NewScoreRun }
  | { readonly step: "rows"; readonly runId: number; readonly rows: readonly ScoreRow[] }
  | { readonly step: "finish"; readonly runId: number; readonly stats: object }
  /** Deletes rows of runs that are neither retained nor in progress. Repeat until nothing is left. */
  | { readonly step: "sweep"; readonly kind: ScoreKind };

const insertRun = statement<
  unknown,
  [kind: string, at: number, method: string, params: string, seeds: string]
>(
  "scores.begin",
  `INSERT INTO score_runs (kind, is_done, at, method, params, seeds, stats) VALUES (?, 0, ?, ?, ?, ?, '{}')`,
);
const insertRow = statement<
  unknown,
  [
    runId: number,
    fid: number,
    score: number,
    state: number,
    rank: number,
    viaFid: number,
    sources: Uint8Array | null,
    note: string | null,
  ]
>(
  "scores.insert",
  `INSERT INTO scores (run_id, fid, score, state, rank, via_fid, sources, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
);
const finishRun = statement<unknown, [stats: string, runId: number]>(
  "scores.finish",
  "UPDATE score_runs SET is_done = 1, stats = ? WHERE id = ?",
);
interface RunRow {
  readonly id: number;
  readonly kind: ScoreKind;
  readonly at: number;
  readonly method: string;
  readonly params: string;
  readonly seeds: string;
  readonly stats: string;
}
const doneRuns = statement<RunRow, [kind: string, limit: number]>(
  "scores.runs",
  `SELECT id, kind, at, method, params, seeds, stats FROM score_runs
   WHERE kind = ? AND is_done = 1 ORDER BY id DESC LIMIT ?`,
);
const currentRunId = statement<{ id: number }, [kind: string]>(
  "scores.current",
  "SELECT id FROM score_runs WHERE kind = ? AND is_done = 1 ORDER BY id DESC LIMIT 1",
);
// A run that did not finish has a lower id than a later one that did, so it is deleted with those that are too old.
const staleRun = statement<{ id: number }, [kind: string, kept: string]>(
  "scores.stale",
  `SELECT id FROM score_runs WHERE kind = ?1 AND is_done IN (0, 1)
     AND id NOT IN (SELECT value FROM json_each(?2)) ORDER BY id LIMIT 1`,
);
const deleteRows = statement<unknown, [runId: number]>(
  "scores.delete-rows",
  `DELETE FROM scores WHERE run_id = ?1
     AND fid IN (SELECT fid FROM scores WHERE run_id = ?1 ORDER BY fid LIMIT ${SCORES_PER_STEP})`,
);
const deleteRun = statement<unknown, [runId: number]>(
  "scores.delete-run",
  "DELETE FROM score_runs WHERE id = ?",
);

/** Writes one step of a run. The scores of a run become visible all at once, with its `finish`. */
export function writeScores(db: IndexDatabase, step: ScoreStep): number {
  return db.transaction(() => {
    if (step.step === "begin") {
      const { kind, at, method, params, seeds } = step.run;
      return db.insert(insertRun, kind, at, method, JSON.stringify(params), JSON.stringify(seeds));
    }
    if (step.step === "rows") {
      for (const { fid, score, state, rank, viaFid, sources, note } of step.rows)
        db.run(insertRow, step.runId, fid, score, state, rank, viaFid, sources, note);
      return step.rows.length;
    }
    if (step.step === "finish") {
      db.invalidations.everything();
      return db.run(finishRun, JSON.stringify(step.stats), step.runId);
    }
    return sweep(db, step.kind);
  });
}

function sweep(db: IndexDatabase, kind: ScoreKind): number {
  const kept = db.all(doneRuns, kind, KEPT_RUNS).map(({ id }) => id);
  const stale = db.get(staleRun, kind, JSON.stringify(kept))?.id;
  if (stale === undefined) return 0;
  return db.run(deleteRows, stale) || db.run(deleteRun, stale);
}

/** Returns the run of a kind that is in effect; undefined before the first has finished. */
export function currentScoreRun(db: IndexDatabase, kind: ScoreKind): ScoreRun | undefined {
  const row = db.all(doneRuns, kind, 1)[0];
  return (
    row && {
      ...row,
      params: JSON.parse(row.params),
      seeds: JSON.parse(row.seeds),
      stats: JSON.parse(row.stats),
    }
  );
}

const rowsOf = statement<ScoreRow, [runId: number, fidsJson: string]>(
  "scores.of",
  `SELECT s.fid, s.score, s.state, s.rank, s.via_fid AS viaFid, s.sources, s.note
   FROM json_each(?2) j CROSS JOIN scores s ON s.run_id = ?1 AND s.fid = j.value`,
);
const valuesOf = statement<{ fid: number; score: number; state: number }, [runId: number, fidsJson: string]>(
  "scores.values-of",
  `SELECT s.fid, s.score, s.state FROM json_each(?2) j CROSS JOIN scores s ON s.run_id = ?1 AND s.fid = j.value`,
);
const rowsAfter = statement<{ fid: number; score: number }, [runId: number, fid: number, limit: number]>(
  "scores.after",
  "SELECT fid, score FROM scores WHERE run_id = ? AND fid > ? ORDER BY fid LIMIT ?",
);

export function scoreRowsOf(
  db: IndexDatabase,
  runId: number,
  fids: readonly number[],
): Map<number, ScoreRow> {
  return new Map(db.all(rowsOf, runId, JSON.stringify(fids)).map((row) => [row.fid, row]));
}

/** Yields all scores of a run by fid, ascending, one page of rows at a time. */
export function* allScores(db: IndexDatabase, runId: number): Generator<{ fid: number; score: number }> {
  for (let after = -1; ; ) {
    const rows = db.all(rowsAfter, runId, after, SCORES_PER_STEP);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < SCORES_PER_STEP) return;
    after = last.fid;
  }
}

/**
 * Which scores count. With `both`, a capping label lowers the computed score; imported scores count where none was computed.
 */
export type ScoreMode = ScoreKind | "both";

/** Returns the score of an account from its rows, in hundredths; undefined if it has none. */
export function combinedScore(
  computed: Pick<ScoreRow, "score"> | undefined,
  imported: Pick<ScoreRow, "score" | "state"> | undefined,
): number | undefined {
  if (!computed || !imported) return computed?.score ?? imported?.score;
  const caps = (imported.state & ScoreState.CappingLabel) !== 0;
  return caps ? Math.min(computed.score, imported.score) : computed.score;
}

/** Returns the scores of these fids, from 0 to 1. Fids without a score are absent. */
export function scoresOf(db: IndexDatabase, mode: ScoreMode, fids: readonly number[]): Map<number, number> {
  const rows = (kind: ScoreKind) => {
    const id = mode === kind || mode === "both" ? db.get(currentRunId, kind)?.id : undefined;
    if (id === undefined) return new Map<number, { score: number; state: number }>();
    return new Map(db.all(valuesOf, id, JSON.stringify(fids)).map((row) => [row.fid, row]));
  };
  const [computed, imported] = [rows("computed"), rows("imported")];
  const scores = new Map<number, number>();
  for (const fid of fids) {
    const score = combinedScore(computed.get(fid), imported.get(fid));
    if (score !== undefined) scores.set(fid, score / 100);
  }
  return scores;
}
