/**
 * Characters that a terminal obeys or does not show: control characters, formatting characters (bidirectional overrides,
 * zero-width ones, tags) and the separators of lines and paragraphs. Text with them may read as something that it is not.
 */
const UNPRINTABLE = String.raw`\p{Cc}\p{Cf}\p{Zl}\p{Zp}`;

const ONE = new RegExp(`[${UNPRINTABLE}]`, "u");
const ALL = new RegExp(`[${UNPRINTABLE}]`, "gu");
const ALL_WITHIN_LINES = new RegExp(String.raw`(?![\n\t])[${UNPRINTABLE}]`, "gu");

/** Whether a text holds a character that a terminal obeys or does not show. */
export function hasUnprintable(text: string): boolean {
  return ONE.test(text);
}

/** One line of text for a terminal; what it obeys or hides is escaped as in JSON, line breaks included. */
export function printable(text: string): string {
  return text.replaceAll(ALL, escaped);
}

/** Lines of text for a terminal: as `printable`, but line breaks and tabs stay. JSON keeps its meaning. */
export function printableLines(text: string): string {
  return text.replaceAll(ALL_WITHIN_LINES, escaped);
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
