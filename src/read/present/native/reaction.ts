import { ReactionType } from "../../../protocol/wire/generated/message.ts";
import { type Hydration, hashOf } from "../../hydrate/hydrate.ts";
import type { Reaction as ReactionState } from "../../queries/casts/reactions.ts";
import { presentCast } from "./cast.ts";
import { presentUser } from "./user.ts";

/** Presents a like or recast with its user and cast; undefined when either does not exist. */
export function presentReaction(reaction: ReactionState, hydration: Hydration) {
  const user = presentUser(reaction.fid, hydration);
  const cast = presentCast(hashOf(reaction.castId, hydration), hydration);
  if (!user || !cast) return undefined;
  return {
    reaction_type:
      reaction.type === ReactionType.REACTION_TYPE_LIKE ? ("like" as const) : ("recast" as const),
    user,
    cast,
    timestamp: reaction.timestamp,
  };
}

export type Reaction = NonNullable<ReturnType<typeof presentReaction>>;
