import { isoTime } from "../../../lib/iso-time.ts";
import { ReactionType } from "../../../protocol/wire/generated/message.ts";
import type { Page } from "../../cursor.ts";
import { type Hydration, hashOf } from "../../hydrate/hydrate.ts";
import type { Reaction } from "../../queries/casts/reactions.ts";
import { presentCast } from "./cast.ts";
import { presentUser, presentUserDehydrated } from "./user.ts";

/** Returns the names of a reaction type, as an object and as a single reaction. */
function reactionNames(type: ReactionType) {
  return type === ReactionType.REACTION_TYPE_LIKE
    ? ({ object: "likes", reaction_type: "like" } as const)
    : ({ object: "recasts", reaction_type: "recast" } as const);
}

/** Presents a page of reactions to a cast, which the request names. */
export function presentCastReactions({ rows, cursor }: Page<Reaction>, hydration: Hydration) {
  const reactions = rows.flatMap((reaction) => {
    const user = presentUser(reaction.fid, hydration);
    if (!user || !hydration.casts.has(hashOf(reaction.castId, hydration))) return [];
    return [{ ...reactionNames(reaction.type), reaction_timestamp: isoTime(reaction.timestamp), user }];
  });
  return { reactions, next: { cursor } };
}

/** Presents a page of reactions of a user, with full casts and a dehydrated user. */
export function presentUserReactions({ rows, cursor }: Page<Reaction>, hydration: Hydration) {
  const reactions = rows.flatMap((reaction) => {
    const user = presentUserDehydrated(reaction.fid, hydration);
    const cast = presentCast(hashOf(reaction.castId, hydration), hydration);
    if (!user || !cast) return [];
    return [{ ...reactionNames(reaction.type), reaction_timestamp: isoTime(reaction.timestamp), user, cast }];
  });
  return { reactions, next: { cursor } };
}
