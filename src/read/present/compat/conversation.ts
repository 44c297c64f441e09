import { extendMemoized, jsonText } from "../../../lib/json-text.ts";
import type { ConversationNode } from "../../queries/casts/conversation.ts";
import type { ConversationPage } from "../../queries/casts/conversation-page.ts";
import type { CastSlices } from "../../run-query.ts";
import { TreeText } from "../native/cast.ts";
import type { Cast } from "./cast.ts";

/** Adds the number of hidden replies to the cast that the request names, for a reader who may not see all of them. */
function withHiddenReplies({ hiddenReplies }: ConversationPage, cast: Cast | undefined): Cast | undefined {
  if (!cast || hiddenReplies === undefined) return cast;
  return extendMemoized(cast, { hidden_replies: hiddenReplies });
}

/** Approximate size of a piece of text, in characters. */
const PIECE_CHARS = 32 * 1024;

/** A cast with the replies below it. */
export type CastWithReplies = Cast & {
  readonly hidden_replies?: number;
  readonly direct_replies: CastWithReplies[];
};

const REPLIES = "direct_replies" satisfies keyof CastWithReplies;

/**
 * Yields the JSON of a conversation in pieces.
 *
 * @param slices the casts of `nodes` followed by those of `page.parents`, presented by `presentCast`.
 */
export async function* conversationText(
  page: ConversationPage,
  nodes: readonly ConversationNode[],
  slices: CastSlices<Cast>,
): AsyncGenerator<string, void, void> {
  const tree = new TreeText(REPLIES);
  const parents: string[] = [];
  let at = 0;
  let text = '{"conversation":{"cast":';
  for await (const slice of slices) {
    for (const shown of slice) {
      const node = nodes[at++];
      if (node) text += tree.next(node.depth, node.depth === 0 ? withHiddenReplies(page, shown) : shown);
      else if (shown) parents.push(jsonText(shown));
      if (text.length < PIECE_CHARS) continue;
      yield text;
      text = "";
    }
  }
  text += tree.end();
  if (page.parents) text += `,"chronological_parent_casts":[${parents.join(",")}]`;
  yield `${text}},"next":{"cursor":${JSON.stringify(page.cursor)}}}`;
}
