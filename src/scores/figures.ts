import { currentScoreRun } from "../db/index/counts/scores.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import { figureOf, gauge, gauges } from "../runtime/figures/figures.ts";

/** Sources of the figures. */
export interface ScoreFigureSource {
  readonly db: IndexDatabase;
  readonly mode: string;
  /** Unix seconds. */
  readonly nowSecs: () => number;
  /** Returns why the last run failed; undefined after a success and if nothing is computed here. */
  readonly lastFault: () => string | undefined;
  readonly isRunning: () => boolean;
}

const figure = figureOf<ScoreFigureSource>();

/** Returns a number from the stats of the current computation; null before the first. */
const stat =
  (name: string) =>
  ({ db }: ScoreFigureSource): number | null => {
    const value = currentScoreRun(db, "computed")?.stats[name];
    return typeof value === "number" ? value : null;
  };

const age = ({ db, nowSecs }: ScoreFigureSource): number | null => {
  const run = currentScoreRun(db, "computed");
  return run ? nowSecs() - run.at : null;
};

/** Empty while `scores.mode` is off. */
export const scoreFigures = [
  figure({ read: ({ mode }) => mode, status: "scores.mode" }),
  figure({
    read: ({ isRunning }) => isRunning(),
    metric: gauge("scores_running", "1 while scores are computed, else 0."),
    status: "scores.running",
  }),
  figure({
    read: ({ lastFault }) => lastFault() ?? null,
    status: "scores.last_fault",
  }),
  figure({
    read: age,
    metric: gauge("scores_age_seconds", "Age of the computed scores in seconds; none before the first run."),
    status: "scores.age_secs",
  }),
  figure({
    read: stat("seconds"),
    metric: gauge("scores_run_seconds", "Duration of the last computation of scores."),
    status: "scores.seconds",
  }),
  figure({
    read: stat("pairs"),
    metric: gauge("scores_pairs", "Pairs of accounts with evidence in the last computation of scores."),
    status: "scores.pairs",
  }),
  figure({
    read: stat("left_out"),
    metric: gauge("scores_pairs_left_out", "Pairs that scores.max_memory_mb left no room for."),
    status: "scores.left_out",
  }),
  figure({
    read: stat("rounds"),
    metric: gauge("scores_rounds", "Rounds of the last computation of scores."),
    status: "scores.rounds",
  }),
  figure({
    read: stat("reached"),
    metric: gauge("scores_reached_ratio", "Share of the accounts with a path from a seed."),
    status: "scores.reached",
  }),
  figure({
    read: stat("moved"),
    metric: gauge("scores_moved", "Accounts whose score moved by more than 0.2 in the last computation."),
    status: "scores.moved",
  }),
  figure({
    read: ({ db }) => {
      const fifths = currentScoreRun(db, "computed")?.stats.fifths;
      return Array.isArray(fifths) ? (fifths as number[]) : [];
    },
    metric: {
      ...gauges("scores_accounts", "Accounts by the fifth of their score: 0 is below 0.2.", ["fifth"]),
      samples: (fifths: readonly number[]) => fifths.map((count, fifth) => [{ fifth }, count] as const),
    },
    status: "scores.fifths",
  }),
  figure({
    read: ({ db }) => currentScoreRun(db, "imported"),
    status: ["scores.import", (run) => (run ? { at: run.at, format: run.method, ...run.stats } : null)],
  }),
];
