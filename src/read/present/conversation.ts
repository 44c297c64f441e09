import type { Hydration } from "../hydrate/hydrate.ts";
import type { Conversation } from "../skeleton/conversation.ts";
import { type Cast, presentCast } from "./cast.ts";

/** A cast and the replies below it. */
export interface CastWithReplies {
  readonly cast: Cast;
  readonly replies: CastWithReplies[];
}

/** The tree of a conversation; undefined when its first cast is not live. */
export function presentConversation(
  conversation: Conversation,
  hydration: Hydration,
): CastWithReplies | undefined {
  const cast = presentCast(conversation.hash, hydration);
  if (!cast) return undefined;
  return {
    cast,
    replies: conversation.replies.flatMap((reply) => presentConversation(reply, hydration) ?? []),
  };
}
