/**
 * Serializes values to JSON whose parts repeat, such as the author of many casts. The JSON of a part marked by `memoizeJson` is built
 * once and lives as long as the part.
 */

const NOT_BUILT = "";

/** An object with the fields of another object, followed by more fields. */
interface Extension {
  readonly base: object;
  readonly more: object;
}

const texts = new WeakMap<object, string | Extension>();

/** Keys as JSON, with their colon. Responses have a few hundred keys; the limit is for keys that come from data. */
const keyTexts = new Map<string, string>();
const MAX_KEY_TEXTS = 1000;

/** Marks an object for memoization. It must not change afterwards. */
export function memoizeJson<T extends object>(value: T): T {
  texts.set(value, NOT_BUILT);
  return value;
}

/**
 * Returns an object with the fields of `base` followed by those of `more`; the two must not overlap. Its JSON reuses the JSON of `base`
 * and is not cached itself.
 */
export function extendMemoized<Base extends object, More extends object>(
  base: Base,
  more: More,
): Base & More {
  const extended = { ...base, ...more };
  texts.set(extended, { base, more });
  return extended;
}

/** Serializes plain data as `JSON.stringify` does: objects, arrays, strings, numbers, booleans, null. */
export function jsonText(value: unknown): string {
  return textWithin(value, Number.POSITIVE_INFINITY);
}

const TOO_LONG = Symbol("longer than allowed");

/** Like `jsonText`, but stops and returns undefined as soon as the text exceeds `maxChars` UTF-16 units. */
export function jsonTextWithin(value: unknown, maxChars: number): string | undefined {
  try {
    const text = textWithin(value, maxChars);
    return text.length > maxChars ? undefined : text;
  } catch (error) {
    if (error === TOO_LONG) return undefined;
    throw error;
  }
}

/** Longer values are split. */
const MAX_PIECE_CHARS = 32 * 1024;

/**
 * Like `jsonText`, in pieces that are built on demand. A piece has at most about 32 K units, except that a single string or a memoized
 * part is never split.
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
  if (typeof value !== "object" || value === null) return scalarText(value);
  const memoized = texts.get(value);
  if (memoized === undefined) return textOf(value, maxChars);
  if (typeof memoized === "object") return extendedText(memoized);
  if (memoized !== NOT_BUILT) return memoized;
  // The engine stores a concatenated string as a tree of pieces, which every text that includes it would traverse again.
  const flat = Buffer.from(textOf(value, Number.POSITIVE_INFINITY)).toString();
  texts.set(value, flat);
  return flat;
}

/** Characters that JSON does not escape. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
/** Most strings of responses are shorter: for them the test is faster than the engine's serializer. */
const MAX_TESTED_CHARS = 64;

function scalarText(value: unknown): string {
  if (typeof value === "string" && value.length <= MAX_TESTED_CHARS && PLAIN.test(value)) return `"${value}"`;
  return JSON.stringify(value) ?? "null";
}

function extendedText({ base, more }: Extension): string {
  const text = textWithin(base, Number.POSITIVE_INFINITY);
  const members = membersText(more, Number.POSITIVE_INFINITY);
  if (members === "" || text === "{}") return members === "" ? text : `${members}}`;
  return `${text.slice(0, -1)},${members.slice(1)}}`;
}

/** Serializes an object with one more key, whose value is an open list: the caller appends the items and `]}`. */
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

/** Serializes an object without its closing brace; empty for an object without members. */
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
