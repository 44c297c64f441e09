import type { CastSlices } from "../../cast-slices.ts";
import type { Hash } from "../../hydrate/casts.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import type { ConversationNode } from "../../queries/casts/conversation.ts";
import { TreeText } from "../tree-text.ts";
import { type Cast, presentCast } from "./cast.ts";

/** The approximate size of a piece of text. */
const PIECE_CHARS = 32 * 1024;

/** A cast and the replies below it. */
export interface CastWithReplies {
  readonly cast: Cast;
  readonly replies: CastWithReplies[];
}

const REPLIES = "replies" satisfies keyof CastWithReplies;

type WithoutReplies = Omit<CastWithReplies, typeof REPLIES>;

/** Presents a cast of a conversation without its replies; undefined for a cast that is not live. */
export function presentCastWithoutReplies(hash: Hash, hydration: Hydration): WithoutReplies | undefined {
  const cast = presentCast(hash, hydration);
  return cast && { cast };
}

/** Yields the JSON of a conversation in pieces. `nodes` and `slices` have its casts in the same order. */
export async function* conversationText(
  nodes: readonly ConversationNode[],
  slices: CastSlices<WithoutReplies>,
): AsyncGenerator<string, void, void> {
  const tree = new TreeText(REPLIES);
  let at = 0;
  let text = "";
  for await (const slice of slices) {
    for (const shown of slice) {
      text += tree.next(nodes[at++]?.depth ?? 0, shown);
      if (text.length < PIECE_CHARS) continue;
      yield text;
      text = "";
    }
  }
  yield text + tree.end();
}
