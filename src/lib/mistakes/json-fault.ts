import { decodeUtf8 } from "../json.ts";

/** Longer texts are not searched. */
const MAX_CHARS = 1_000_000;

const SPACE = /[ \t\n\r]*/y;
const SIMPLE_VALUE = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const LAST_CONTROL = 0x1f;

/** What comes next. `first…` is what follows the start of an array or object, which may end there. */
type Expected = "value" | "firstValue" | "key" | "firstKey" | "colon" | "more";

const KEYS: ReadonlySet<Expected> = new Set(["key", "firstKey"]);
const MAY_END: ReadonlySet<Expected> = new Set(["firstValue", "firstKey", "more"]);

/**
 * Returns the offset at which a text stops being valid JSON: its length if it ends too early. Returns undefined for valid JSON and for
 * texts that are too long to search. `JSON.parse` does not report the offset.
 */
export function jsonFaultAt(text: string): number | undefined {
  if (text.length > MAX_CHARS) return undefined;
  /** How the open arrays and objects end. */
  const ends: ("]" | "}")[] = [];
  let expected: Expected = "value";
  for (let at = after(SPACE, text, 0); ; at = after(SPACE, text, at)) {
    const character = text[at];
    const end = ends.at(-1);
    const isKey = KEYS.has(expected);
    if (end !== undefined && character === end && MAY_END.has(expected)) {
      ends.pop();
      expected = "more";
      at++;
    } else if (expected === "more") {
      if (end === undefined) return at === text.length ? undefined : at;
      if (character !== ",") return at;
      expected = end === "}" ? "key" : "value";
      at++;
    } else if (expected === "colon") {
      if (character !== ":") return at;
      expected = "value";
      at++;
    } else if (character === '"') {
      at = stringEnd(text, at + 1);
      if (text[at] !== '"') return at;
      expected = isKey ? "colon" : "more";
      at++;
    } else if (isKey) {
      return at;
    } else if (character === "[" || character === "{") {
      ends.push(character === "[" ? "]" : "}");
      expected = character === "[" ? "firstValue" : "firstKey";
      at++;
    } else {
      const next = after(SIMPLE_VALUE, text, at);
      if (next === at) return at;
      expected = "more";
      at = next;
    }
  }
}

/** Returns the offset of the quote that ends a string, or of the first character that it may not contain. */
function stringEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== '"' && text.charCodeAt(at) > LAST_CONTROL) {
    const next = text[at] === "\\" ? after(ESCAPE, text, at) : at + 1;
    if (next === at) return at;
    at = next;
  }
  return at;
}

/** Returns where a match at this offset ends; the offset itself without one. */
function after(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/**
 * Continues the sentence that a body is not JSON with where it stops being JSON, counting lines and columns from 1. Empty if that was not
 * found. It quotes nothing: the message may be logged, and a body must not be.
 */
export function jsonFaultText(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (text === undefined) return ": it is not UTF-8";
  const at = jsonFaultAt(text);
  if (at === undefined) return "";
  const before = text.slice(0, at);
  const line = before.split("\n").length;
  const column = [...before.slice(before.lastIndexOf("\n") + 1)].length + 1;
  return `: ${at === text.length ? "it ends" : "unexpected character"} at line ${line}, column ${column}`;
}
