import type { Interactions as InteractionsState } from "../../queries/casts/interactions.ts";

export function presentInteractions(interactions: InteractionsState) {
  return {
    fid: interactions.fid,
    target_fid: interactions.targetFid,
    mentions: interactions.mentions,
    reactions: interactions.reactions,
    mutual_follow: interactions.mutualFollow,
  };
}

export type Interactions = ReturnType<typeof presentInteractions>;
