import { invalid, type Rejection } from "../rejection.ts";
import { type ReactionBody, ReactionType } from "../wire/generated/message.ts";
import { checkCastId, checkUrl } from "./fields.ts";

/** The rules of a reaction, added or removed. The reference node lets type NONE pass; nothing can show it. */
export function validateReaction({ type, target }: ReactionBody): Rejection | undefined {
  if (type !== ReactionType.REACTION_TYPE_LIKE && type !== ReactionType.REACTION_TYPE_RECAST) {
    return invalid("reaction type is unknown");
  }
  switch (target?.$case) {
    case "targetCastId":
      return checkCastId(target.value, "target");
    case "targetUrl":
      return checkUrl(target.value, "target_url");
    default:
      return invalid("reaction has no target");
  }
}
