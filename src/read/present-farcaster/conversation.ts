import type { CastState } from "../hydrate/casts.ts";
import type { Hydration } from "../hydrate/hydrate.ts";
import type { Conversation } from "../skeleton/conversation.ts";
import type { ConversationPage, ReplyOrder } from "../skeleton/conversation-page.ts";
import { type Cast, presentCast, presentCasts } from "./cast.ts";

/** A cast and the replies below it. */
export type CastWithReplies = Cast & { readonly direct_replies: CastWithReplies[] };

/** A conversation; undefined when its first cast is not live. */
export function presentConversation(page: ConversationPage, hydration: Hydration) {
  const { hash, order, parents, rows, cursor } = page;
  const cast = presentCast(hash, hydration);
  if (!cast) return undefined;
  // The page is in its order already.
  const replies = rows.flatMap((reply) => presentBranch(reply, order, hydration) ?? []);
  return {
    conversation: {
      cast: { ...cast, direct_replies: replies } as CastWithReplies,
      ...(parents && { chronological_parent_casts: presentCasts(parents, hydration) }),
    },
    next: { cursor },
  };
}

function presentBranch(
  { hash, replies }: Conversation,
  order: ReplyOrder,
  hydration: Hydration,
): CastWithReplies | undefined {
  const cast = presentCast(hash, hydration);
  if (!cast) return undefined;
  const direct = sorted(replies, order, hydration);
  return {
    ...cast,
    direct_replies: direct.flatMap((reply) => presentBranch(reply, order, hydration) ?? []),
  };
}

/** Replies come oldest first. */
function sorted(replies: readonly Conversation[], order: ReplyOrder, { casts }: Hydration) {
  if (order === "chron") return replies;
  const newestFirst = replies.toReversed();
  if (order === "desc_chron") return newestFirst;
  const scoreOf = (cast: CastState | undefined) =>
    cast ? cast.likes + 2 * cast.recasts + 3 * cast.replies : 0;
  return newestFirst.sort((a, b) => scoreOf(casts.get(b.hash)) - scoreOf(casts.get(a.hash)));
}
