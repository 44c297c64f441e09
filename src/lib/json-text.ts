/**
 * JSON of values of which parts are shown again and again, such as the author of many casts. The text of a part that was
 * marked by `keepText` is made once and lives as long as the part.
 */

const NOT_MADE = "";
const texts = new WeakMap<object, string>();

/** Spellings of keys. Answers have some hundred; the bound is for keys that come from data. */
const keyTexts = new Map<string, string>();
const MAX_KEY_TEXTS = 1000;

/** Marks an object that nobody changes from now on. */
export function keepText<T extends object>(value: T): T {
  texts.set(value, NOT_MADE);
  return value;
}

/** The text that `JSON.stringify` makes, of plain data: objects, arrays, strings, numbers, booleans, null. */
export function jsonText(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const kept = texts.get(value);
  if (kept === undefined) return textOf(value);
  if (kept !== NOT_MADE) return kept;
  // A string that grew piece by piece is a tree of pieces, which every text that it is put into would walk again.
  const flat = Buffer.from(textOf(value)).toString();
  texts.set(value, flat);
  return flat;
}

function textOf(value: object): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    let text = `[${jsonText(value[0])}`;
    for (let at = 1; at < value.length; at++) text += `,${jsonText(value[at])}`;
    return `${text}]`;
  }
  let text = "";
  for (const key in value) {
    const member = (value as Readonly<Record<string, unknown>>)[key];
    if (member === undefined) continue;
    text += `${text === "" ? "{" : ","}${keyText(key)}${jsonText(member)}`;
  }
  return text === "" ? "{}" : `${text}}`;
}

function keyText(key: string): string {
  let text = keyTexts.get(key);
  if (text === undefined) {
    text = `${JSON.stringify(key)}:`;
    if (keyTexts.size < MAX_KEY_TEXTS) keyTexts.set(key, text);
  }
  return text;
}
