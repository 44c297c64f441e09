import { invalid, type Rejection } from "../rejection.ts";
import { type ReactionBody, ReactionType } from "../wire/generated/message.ts";
import { checkCastId, checkUrl } from "./fields.ts";

/**
 * Validates the addition or removal of a reaction. The reference node accepts type NONE. This node refuses it,
 * because no response could present it.
 */
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
