/**
 * Characters that a terminal interprets or hides: control characters, formatting characters (bidirectional overrides, zero-width ones,
 * tags), line and paragraph separators. They can make text look like something else.
 */
const UNPRINTABLE = String.raw`\p{Cc}\p{Cf}\p{Zl}\p{Zp}`;

const ONE = new RegExp(`[${UNPRINTABLE}]`, "u");
const ALL = new RegExp(`[${UNPRINTABLE}]`, "gu");
const ALL_WITHIN_LINES = new RegExp(String.raw`(?![\n\t])[${UNPRINTABLE}]`, "gu");

/** Reports whether a text has a character that a terminal interprets or hides. */
export function hasUnprintable(text: string): boolean {
  return ONE.test(text);
}

/** Escapes a text for one line of a terminal: line breaks and characters that it interprets or hides are written as in JSON. */
export function printable(text: string): string {
  return text.replaceAll(ALL, escaped);
}

/** Like `printable`, but keeps line breaks and tabs. JSON remains equivalent. */
export function printableLines(text: string): string {
  return text.replaceAll(ALL_WITHIN_LINES, escaped);
}

/** Returns a text as one line of at most `maxChars` characters, without those that a terminal interprets or hides. */
export function oneLine(text: string, maxChars: number): string {
  const line = text.replaceAll(ALL, " ").replaceAll(/\s+/g, " ").trim();
  return [...line.toWellFormed()].slice(0, maxChars).join("");
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

/** Splits a list that a person wrote, separated by commas or spaces, with or without brackets and quotes. May be empty. */
export function itemsOf(text: string): string[] {
  const [, listed = text] = /^\s*\[(.*)\]\s*$/s.exec(text) ?? [];
  return listed
    .split(/[\s,]+/)
    .map((item) => item.replace(/^(["'])(.*)\1$/, "$2"))
    .filter((item) => item !== "");
}
