import { isoTime } from "../../../lib/iso-time.ts";
import { ReactionType } from "../../../protocol/wire/generated/message.ts";
import type { Page } from "../../cursor.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import type { Reaction } from "../../queries/casts/reactions.ts";
import { presentCast, presentCastDehydrated } from "./cast.ts";
import { presentUser, presentUserDehydrated } from "./user.ts";

/** What a reaction is called, on its own and as a kind of objects. */
export function reactionNames(type: ReactionType) {
  return type === ReactionType.REACTION_TYPE_LIKE
    ? ({ object: "likes", reaction_type: "like" } as const)
    : ({ object: "recasts", reaction_type: "recast" } as const);
}

/** A page of reactions on a cast: the users in full, the cast only named. */
export function presentCastReactions({ rows, cursor }: Page<Reaction>, hydration: Hydration) {
  const reactions = rows.flatMap((reaction) => {
    const user = presentUser(reaction.fid, hydration);
    const cast = presentCastDehydrated(reaction.castHash, hydration);
    if (!user || !cast) return [];
    return [{ ...reactionNames(reaction.type), reaction_timestamp: isoTime(reaction.timestamp), user, cast }];
  });
  return { reactions, next: { cursor } };
}

/** A page of reactions of a user: the casts in full, the user briefly. */
export function presentUserReactions({ rows, cursor }: Page<Reaction>, hydration: Hydration) {
  const reactions = rows.flatMap((reaction) => {
    const user = presentUserDehydrated(reaction.fid, hydration);
    const cast = presentCast(reaction.castHash, hydration);
    if (!user || !cast) return [];
    return [{ ...reactionNames(reaction.type), reaction_timestamp: isoTime(reaction.timestamp), user, cast }];
  });
  return { reactions, next: { cursor } };
}
