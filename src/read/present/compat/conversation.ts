import { jsonText } from "../../../lib/json-text.ts";
import type { CastSlices } from "../../cast-slices.ts";
import type { ConversationNode } from "../../queries/casts/conversation.ts";
import type { ConversationPage } from "../../queries/casts/conversation-page.ts";
import { TreeText } from "../tree-text.ts";
import type { Cast } from "./cast.ts";

/** The approximate size of a piece of text. */
const PIECE_CHARS = 32 * 1024;

/** A cast and the replies below it. */
export type CastWithReplies = Cast & { readonly direct_replies: CastWithReplies[] };

const REPLIES = "direct_replies" satisfies keyof CastWithReplies;

/**
 * Yields the JSON of a conversation in pieces.
 * @param slices the casts of `nodes` followed by those of `page.parents`, presented by `presentCast`
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
      if (node) text += tree.next(node.depth, shown);
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
