import { jsonText } from "../../lib/json-text.ts";
import type { Hash } from "../hydrate/casts.ts";
import type { Hydration } from "../hydrate/hydrate.ts";
import { treeText } from "../present/tree-text.ts";
import type { ConversationNode } from "../skeleton/conversation.ts";
import type { ConversationPage } from "../skeleton/conversation-page.ts";
import { type Cast, presentCast } from "./cast.ts";

/** A cast and the replies below it. */
export type CastWithReplies = Cast & { readonly direct_replies: CastWithReplies[] };

/** A cast as a conversation shows it, before its replies are put in; undefined for one that is not live. */
export function presentCastWithoutReplies(hash: Hash, hydration: Hydration): CastWithReplies | undefined {
  const cast = presentCast(hash, hydration);
  return cast && { ...cast, direct_replies: [] };
}

/**
 * The JSON of a conversation, a cast at a time.
 * @param shown the casts of `nodes` and then those of `page.parents`, as `presentCastWithoutReplies` shows them
 */
export async function* conversationText(
  page: ConversationPage,
  nodes: readonly ConversationNode[],
  shown: AsyncIterator<CastWithReplies | undefined>,
): AsyncGenerator<string, void, void> {
  yield '{"conversation":{"cast":';
  yield* treeText(nodes, shown);
  if (page.parents) {
    let open = ',"chronological_parent_casts":[';
    for (const _ of page.parents) {
      const { value } = await shown.next();
      if (!value) continue;
      const { direct_replies: _replies, ...cast } = value;
      yield open + jsonText(cast);
      open = ",";
    }
    yield open === "," ? "]" : `${open}]`;
  }
  yield `},"next":{"cursor":${JSON.stringify(page.cursor)}}}`;
}
