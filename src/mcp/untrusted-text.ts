/** Controls, bidirectional overrides, tag characters, separators of lines, and all that has no shape: fillers, selectors but for that of emoji. */
const HIDDEN =
  /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u2800]|\p{Variation_Selector}{2,}|(?!\uFE0F)\p{Default_Ignorable_Code_Point}/gu;
/** What a client that renders Markdown would load by itself. */
const LOADED = /!(?=\[)|<(?=[a-z!/])/gi;

/** A text of the network as a model may read it. */
export interface VisibleText {
  readonly text: string;
  /** How many characters were replaced. */
  readonly replaced: number;
}

/**
 * Replaces what a reader would not see or a terminal would carry out by U+FFFD, and breaks images of Markdown and tags of HTML. Line feeds
 * stay.
 */
export function visibleText(text: string): VisibleText {
  let replaced = 0;
  const shown = text
    .replaceAll(HIDDEN, () => {
      replaced += 1;
      return "\uFFFD";
    })
    .replaceAll(LOADED, (start) => {
      replaced += 1;
      return start === "!" ? "! " : "< ";
    });
  return { text: shown, replaced };
}
