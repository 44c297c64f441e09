import type { Config } from "../config/schema.ts";
import type { ComputeOptions } from "./run.ts";

/** Returns the settings of a computation. */
export function scoreSettingsOf({
  scores,
}: Pick<Config, "scores">): Pick<ComputeOptions, "seeds" | "maxMemoryMb"> {
  const { seeds, seeds_add: seedsAdd, not_seeds: notSeeds, max_memory_mb: maxMemoryMb } = scores;
  return { seeds: { seeds, seedsAdd, notSeeds }, maxMemoryMb };
}

/** Reports whether this node computes scores. */
export function computesScores({ scores: { mode } }: Pick<Config, "scores">): boolean {
  return mode === "computed" || mode === "both";
}
