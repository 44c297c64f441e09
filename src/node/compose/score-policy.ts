import type { Config } from "../../config/schema.ts";
import type { ScorePolicy, ScoreUse } from "../../read/hydrate/users.ts";

/** The scores that responses show and that the operator lets act; undefined while they are off. */
export function scorePolicyOf({ scores }: Pick<Config, "scores">): ScorePolicy | undefined {
  const { mode, unknown, fold_below: foldBelow, enforce } = scores;
  return mode === "off" ? undefined : { mode, unknown, foldBelow, enforced: new Set(enforce) };
}

/** The same where the operator lets them act in one way; undefined elsewhere. */
export function enforcedScores(config: Pick<Config, "scores">, use: ScoreUse): ScorePolicy | undefined {
  const policy = scorePolicyOf(config);
  return policy?.enforced.has(use) ? policy : undefined;
}
