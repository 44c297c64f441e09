import { allScores, currentScoreRun } from "../db/index/counts/scores.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import { type Computation, type ComputeOptions, computeScores } from "./run.ts";

const MAX_LISTED = 20;

/** Result of a simulation. Scores are from 0 to 1. */
export interface Simulation extends Pick<Computation, "stats"> {
  /** Number of accounts whose score would move by more than 0.1, 0.2 and 0.3. */
  readonly movedBy: { readonly "0.1": number; readonly "0.2": number; readonly "0.3": number };
  /** The accounts whose scores would move most. */
  readonly most: readonly { readonly fid: number; readonly from: number; readonly to: number }[];
}

/** Computes scores with other settings and compares them with the current ones. */
export async function simulate(db: IndexDatabase, options: ComputeOptions): Promise<Simulation> {
  const { stats, scoreOf } = await computeScores(db, options);
  const current = currentScoreRun(db, "computed");
  const movedBy = { "0.1": 0, "0.2": 0, "0.3": 0 };
  let most: { fid: number; from: number; to: number }[] = [];
  if (current)
    for (const { fid, score } of allScores(db, current.id)) {
      const to = scoreOf(fid) ?? 0;
      const move = Math.abs(to - score);
      if (move === 0) continue;
      if (move > 10) movedBy["0.1"] += 1;
      if (move > 20) movedBy["0.2"] += 1;
      if (move > 30) movedBy["0.3"] += 1;
      most.push({ fid, from: score / 100, to: to / 100 });
      if (most.length >= 100 * MAX_LISTED) most = mostMoved(most);
    }
  return { stats, movedBy, most: mostMoved(most) };
}

function mostMoved<Move extends { fid: number; from: number; to: number }>(moves: Move[]): Move[] {
  return moves
    .toSorted((a, b) => Math.abs(b.to - b.from) - Math.abs(a.to - a.from) || a.fid - b.fid)
    .slice(0, MAX_LISTED);
}
