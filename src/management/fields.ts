import { ok, type Result } from "../lib/result.ts";
import { badField, type Refusal } from "./refusal.ts";

/** Readers of the fields of a JSON body. Each returns the value or a refusal that names the field. */

export type JsonObject = Readonly<Record<string, unknown>>;

type MaybePromise<T> = T | Promise<T>;

/** One field: its key in the body and the reader of its value. */
export interface Field<T> {
  readonly key: string;
  readonly read: (value: unknown, name: string) => MaybePromise<Result<T, Refusal>>;
}

export type FieldTable = Readonly<Record<string, Field<unknown>>>;

export type FieldValues<F extends FieldTable> = {
  -readonly [K in keyof F]?: F[K] extends Field<infer T> ? T : never;
};

/** Reads the fields that are present, in the order of the table, up to the first refusal. Unknown keys are ignored. */
export async function readFields<F extends FieldTable>(
  table: F,
  body: JsonObject,
): Promise<Result<FieldValues<F>, Refusal>> {
  const values: Record<string, unknown> = {};
  for (const [name, { key, read }] of Object.entries(table)) {
    const raw = ownValue(body, key);
    if (raw === undefined) continue;
    const value = await read(raw, key);
    if (!value.ok) return value;
    values[name] = value.value;
  }
  return ok(values as FieldValues<F>);
}

/** Reads a body, or a part of one, that must be an object. */
export function readObject(value: unknown, name: string): Result<JsonObject, Refusal> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? ok(value as JsonObject)
    : badField(`${name} must be an object`);
}

/** Returns the value of an own key, never an inherited one. */
export function ownValue(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Reads text with a length in Unicode code points. It refuses NUL and lone surrogates, which no database stores unchanged. */
export function readText(range: { readonly min: number; readonly max: number }) {
  const { min, max } = range;
  return (value: unknown, name: string): Result<string, Refusal> => {
    if (typeof value !== "string") return badField(`${name} must be a string`);
    // A text has at most as many code points as UTF-16 units, so only texts near the limit are counted.
    const chars = value.length > 2 * max ? value.length : [...value].length;
    if (chars < min || chars > max) {
      return badField(
        min === 0
          ? `${name} must have at most ${max} characters`
          : `${name} must have ${min} to ${max} characters`,
      );
    }
    if (!value.isWellFormed() || value.includes("\0")) {
      return badField(`${name} must be well-formed Unicode without NUL`);
    }
    return ok(value);
  };
}

export function readNullable<T>(read: Field<T>["read"]) {
  return (value: unknown, name: string): MaybePromise<Result<T | null, Refusal>> =>
    value === null ? ok(null) : read(value, name);
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

export const MAX_NAME_CHARS = 128;
export const MAX_DESCRIPTION_CHARS = 10_000;

/** Names of apps and webhooks. */
export const readName = readText({ min: 1, max: MAX_NAME_CHARS });

/** Descriptions of apps and webhooks; null for none. */
export const readDescription = readNullable<string>(readText({ min: 0, max: MAX_DESCRIPTION_CHARS }));

/** Reads an fid as a JSON number. It refuses numbers above 2^53 - 1, which JSON parsing has rounded. */
export function readFid(value: unknown, name: string): Result<number, Refusal> {
  return Number.isSafeInteger(value) && Number(value) >= 0
    ? ok(Number(value))
    : badField(`${name} must be an integer from 0 to ${Number.MAX_SAFE_INTEGER}`);
}
