import type { Cast } from "../data/objects.ts";
import { FoldedText } from "./folded-text.tsx";
import { castRuns } from "./runs.ts";
import { UserText } from "./user-text.tsx";

/** The text of a cast: text nodes, and links by what they are; folded after 12 lines. */
export function CastText({ cast }: { cast: Cast }) {
  if (cast.text === "") return null;
  return (
    <FoldedText text={cast.text}>
      <UserText text={cast.text} runs={castRuns(cast)} />
    </FoldedText>
  );
}
