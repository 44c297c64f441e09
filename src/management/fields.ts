import { ok, type Result } from "../lib/result.ts";
import { badField, type Refusal } from "./refusal.ts";

/** Readers of the fields of a JSON body. Each returns the value, or a refusal that names the field. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** Reads a body, or a part of one, that must be an object. */
export function readObject(value: unknown, name: string): Result<JsonObject, Refusal> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? ok(value as JsonObject)
    : badField(`${name} must be an object`);
}

/** Returns the value of an own key, never of an inherited one. */
export function ownValue(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Inclusive bounds of a length in Unicode code points. */
export interface TextRange {
  readonly min: number;
  readonly max: number;
}

/**
 * Creates a check for texts with a length in Unicode code points. It refuses NUL and lone surrogates, which not every database stores
 * unchanged. The result is text that follows the name of the field; undefined for a valid text.
 */
export function textFault({ min, max }: TextRange): (value: unknown) => string | undefined {
  return (value) => {
    if (typeof value !== "string") return "must be a string";
    // A text has at most as many code points as UTF-16 units, so only texts near the limit have to be counted.
    const chars = value.length > 2 * max ? value.length : [...value].length;
    if (chars < min || chars > max) {
      return min === 0 ? `must have at most ${max} characters` : `must have ${min} to ${max} characters`;
    }
    return value.isWellFormed() && !value.includes("\0")
      ? undefined
      : "must be well-formed Unicode without NUL";
  };
}

/** Creates a reader of texts; see `textFault`. */
export function readText(range: TextRange) {
  const check = textFault(range);
  return (value: unknown, name: string): Result<string, Refusal> => {
    const fault = check(value);
    return fault === undefined ? ok(value as string) : badField(`${name} ${fault}`);
  };
}

/** Reads a list of at most `maxEntries` entries. */
export function readList<T>(
  maxEntries: number,
  readEntry: (entry: unknown, name: string) => Result<T, Refusal>,
) {
  return (value: unknown, name: string): Result<T[], Refusal> => {
    if (!Array.isArray(value)) return badField(`${name} must be an array`);
    if (value.length > maxEntries) return badField(`${name} must have at most ${maxEntries} entries`);
    const entries: T[] = [];
    for (const raw of value) {
      const entry = readEntry(raw, `every entry of ${name}`);
      if (!entry.ok) return entry;
      entries.push(entry.value);
    }
    return ok(entries);
  };
}
