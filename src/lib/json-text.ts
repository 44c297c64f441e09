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
export function memoizeJson<T extends object>(value: T): T {
  texts.set(value, NOT_MADE);
  return value;
}

/** The text that `JSON.stringify` makes, of plain data: objects, arrays, strings, numbers, booleans, null. */
export function jsonText(value: unknown): string {
  return textWithin(value, Number.POSITIVE_INFINITY);
}

const TOO_LONG = Symbol("longer than allowed");

/** The same text, or undefined where it has more than `maxChars` UTF-16 units, which is noticed on the way. */
export function jsonTextWithin(value: unknown, maxChars: number): string | undefined {
  try {
    const text = textWithin(value, maxChars);
    return text.length > maxChars ? undefined : text;
  } catch (error) {
    if (error === TOO_LONG) return undefined;
    throw error;
  }
}

/** Longer values are taken apart. */
const MAX_PIECE_CHARS = 32 * 1024;

/**
 * The same text in pieces, made as they are asked for. A piece is about 32 K units at most, but for a single string or a
 * part marked by `keepText`, which are never cut.
 */
export function* jsonPieces(value: unknown): Generator<string, void, void> {
  const whole = jsonTextWithin(value, MAX_PIECE_CHARS);
  if (whole !== undefined) {
    yield whole;
  } else if (typeof value !== "object" || value === null || texts.has(value)) {
    yield jsonText(value);
  } else if (Array.isArray(value)) {
    yield* joined("[", "]", value.values(), () => "");
  } else {
    const entries = Object.entries(value).filter(([, member]) => member !== undefined);
    yield* joined(
      "{",
      "}",
      entries.values().map(([, member]) => member),
      (at) => keyText(entries[at]?.[0] ?? ""),
    );
  }
}

function* joined(
  open: string,
  close: string,
  members: IterableIterator<unknown>,
  prefixOf: (at: number) => string,
): Generator<string, void, void> {
  let text = open;
  let at = 0;
  for (const member of members) {
    text += `${at === 0 ? "" : ","}${prefixOf(at)}`;
    at += 1;
    for (const piece of jsonPieces(member)) {
      text += piece;
      if (text.length < MAX_PIECE_CHARS) continue;
      yield text;
      text = "";
    }
  }
  yield text + close;
}

function textWithin(value: unknown, maxChars: number): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const kept = texts.get(value);
  if (kept === undefined) return textOf(value, maxChars);
  if (kept !== NOT_MADE) return kept;
  // A string that grew piece by piece is a tree of pieces, which every text that it is put into would walk again.
  const flat = Buffer.from(textOf(value, Number.POSITIVE_INFINITY)).toString();
  texts.set(value, flat);
  return flat;
}

/** The text of an object with one more key, whose value is a list that is open: items and `]}` are to follow. */
export function openListText(value: object, key: string): string {
  const members = membersText(value, Number.POSITIVE_INFINITY);
  return `${members === "" ? "{" : `${members},`}${keyText(key)}[`;
}

/** @throws TOO_LONG */
function textOf(value: object, maxChars: number): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    let text = `[${textWithin(value[0], maxChars)}`;
    for (let at = 1; at < value.length; at++) {
      text += `,${textWithin(value[at], maxChars)}`;
      if (text.length > maxChars) throw TOO_LONG;
    }
    return `${text}]`;
  }
  const members = membersText(value, maxChars);
  if (members.length > maxChars) throw TOO_LONG;
  return members === "" ? "{}" : `${members}}`;
}

/** The text of an object but for its end; empty for one without members. */
function membersText(value: object, maxChars: number): string {
  let text = "";
  for (const key in value) {
    const member = (value as Readonly<Record<string, unknown>>)[key];
    if (member === undefined) continue;
    text += `${text === "" ? "{" : ","}${keyText(key)}${textWithin(member, maxChars)}`;
  }
  return text;
}

function keyText(key: string): string {
  let text = keyTexts.get(key);
  if (text === undefined) {
    text = `${JSON.stringify(key)}:`;
    if (keyTexts.size < MAX_KEY_TEXTS) keyTexts.set(key, text);
  }
  return text;
}
