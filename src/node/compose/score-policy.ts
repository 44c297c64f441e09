import type { Config } from "../../config/schema.ts";
import type { ScorePolicy, ScoreUse } from "../../read/hydrate/users.ts";

/** Returns the policy for scores that responses show and that the operator lets act; undefined while scores are off. */
export function scorePolicyOf({ scores }: Pick<Config, "scores">): ScorePolicy | undefined {
  const { mode, unknown, fold_below: foldBelow, enforce } = scores;
  return mode === "off" ? undefined : { mode, unknown, foldBelow, enforced: new Set(enforce) };
}

/** Returns the policy if the operator lets scores act in this way; otherwise undefined. */
export function enforcedScores(config: Pick<Config, "scores">, use: ScoreUse): ScorePolicy | undefined {
  const policy = scorePolicyOf(config);
  return policy?.enforced.has(use) ? policy : undefined;
}
