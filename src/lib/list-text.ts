/** The items of a list that a person wrote, which may be empty: with commas or spaces between them, in brackets and quotes or not. */
export function itemsOf(text: string): string[] {
  const [, listed = text] = /^\s*\[(.*)\]\s*$/s.exec(text) ?? [];
  return listed
    .split(/[\s,]+/)
    .map((item) => item.replace(/^(["'])(.*)\1$/, "$2"))
    .filter((item) => item !== "");
}
