/** Lines of a cast that are shown before "Show all". */
export const FOLDED_LINES = 12;

/** The fewest average characters of a line: 320 px of ideographs. */
const NARROWEST_LINE_CHARS = 14;

/**
 * Whether a text may take more than 12 lines on some screen, so that its height has to be measured. A short text, like most casts, is
 * shown as it is.
 */
export function mayFold(text: string): boolean {
  let lines = 0;
  for (const line of text.split("\n", FOLDED_LINES + 1)) {
    lines += Math.max(1, Math.ceil(line.length / NARROWEST_LINE_CHARS));
    if (lines > FOLDED_LINES) return true;
  }
  return false;
}
