import { usableUnits } from "../../../protocol/storage.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import type { AccountScore, ScoreExplanation } from "../../queries/users/score.ts";
import { presentUser } from "./user.ts";

/** Presents the score of an account without its sources. */
export function presentAccountScore({ fid, score, state, isSeed, run, rank, loweredBy, note }: AccountScore) {
  return {
    fid,
    score,
    state,
    is_seed: isSeed,
    method: run?.method ?? null,
    run: run ? { id: run.id, at: run.at } : null,
    rank,
    lowered_by: [...loweredBy],
    note,
  };
}

/** Presents the score of an account with its evidence. */
export function presentScore(found: ScoreExplanation, hydration: Hydration) {
  const user = hydration.users.get(found.fid);
  return {
    ...presentAccountScore(found),
    since: found.since,
    sources: found.sources.map(({ fid, share, follows, replies, reactions, since }) => ({
      user: presentUser(fid, hydration) ?? null,
      share: Math.round(share * 10_000) / 10_000,
      follows,
      replies,
      reactions,
      since,
    })),
    path: [...found.path],
    facts: {
      registered_at: user?.registeredAt ?? null,
      storage_units: Object.values(usableUnits(found.storage, hydration.nowSecs)).reduce(
        (sum, units) => sum + units,
        0,
      ),
      followers: user?.followers ?? 0,
    },
  };
}
