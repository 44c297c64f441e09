import { scoresOf } from "../db/index/counts/scores.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import type { BannedPair } from "../moderation/moderation-store.ts";
import type { ScoreSource } from "../read/hydrate/users.ts";
import type { Audience } from "./store/campaigns/campaign-store.ts";

/** Returns the fids among some that a send of an owner leaves out. */
export type LeftOut = (
  send: { readonly ownerFid: number; readonly audience: Audience },
  fids: readonly number[],
) => Promise<ReadonlySet<number>>;

/**
 * Leaves out the users that the send excludes, those that its owner bans at the moment, and those with less than the least score.
 *
 * @param scores where the operator lets scores decide on sends
 */
export function createLeftOut(deps: {
  readonly db: IndexDatabase;
  readonly bannedAmong: (
    ownerFids: readonly number[],
    fids: readonly number[],
  ) => Promise<readonly BannedPair[]>;
  readonly scores: ScoreSource | undefined;
}): LeftOut {
  const { db, bannedAmong, scores } = deps;
  return async ({ ownerFid, audience }, fids) => {
    const leftOut = new Set(audience.excludeFids);
    for (const { fid } of await bannedAmong([ownerFid], fids)) leftOut.add(fid);
    const { minimumScore = 0 } = audience;
    if (!scores || minimumScore <= 0) return leftOut;
    const known = scoresOf(db, scores.mode, fids);
    for (const fid of fids) if ((known.get(fid) ?? scores.unknown) < minimumScore) leftOut.add(fid);
    return leftOut;
  };
}
