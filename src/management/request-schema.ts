import { Kind, type Static, type TSchema, type TUnsafe, Type, TypeRegistry } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { ok, type Result } from "../lib/result.ts";
import { textFault } from "./fields.ts";
import { badField, type Refusal } from "./refusal.ts";

/**
 * Schemas of request bodies. One schema documents a body and decides which bodies a service accepts. Services validate
 * after they have looked up the record and its owner, so an unknown or foreign record is reported before an invalid field.
 */

/** Returns what is wrong with a value, as text that follows the name of its field; undefined for a valid value. */
export type Fault = (value: unknown) => string | undefined;

const fault = Symbol("fault");

interface CheckedSchema extends TSchema {
  readonly [fault]: Fault;
}

const CHECKED = "Checked";
TypeRegistry.Set<CheckedSchema>(CHECKED, (schema, value) => schema[fault](value) === undefined);

/** A schema with a rule that JSON Schema cannot state. `documented` is its JSON Schema for clients. */
export function checked<T>(documented: object, check: Fault): TUnsafe<T> {
  return Type.Unsafe<T>({ ...documented, [Kind]: CHECKED, [fault]: check });
}

/** Text with a length in Unicode code points, without NUL and lone surrogates, which no database stores unchanged. */
export function Text({
  min = 0,
  max,
  description,
}: {
  readonly min?: number;
  readonly max: number;
  readonly description?: string;
}): TUnsafe<string> {
  const documented = { type: "string", ...(min > 0 && { minLength: min }), maxLength: max };
  return checked<string>({ ...documented, ...(description && { description }) }, textFault({ min, max }));
}

const MAX_NAME_CHARS = 128;
const MAX_DESCRIPTION_CHARS = 10_000;
const descriptionFault = textFault({ min: 0, max: MAX_DESCRIPTION_CHARS });

/** Name of an app or webhook. */
export const Name = Text({ min: 1, max: MAX_NAME_CHARS, description: "Unicode characters" });

/** Description of an app or webhook; null for none. */
export const Description = checked<string | null>(
  { anyOf: [{ type: "string", maxLength: MAX_DESCRIPTION_CHARS }, { type: "null" }] },
  (value) => (value === null ? undefined : descriptionFault(value)),
);

/** A URL that `checkUrlField` checks further. */
export const Url = (description: string): TUnsafe<string> =>
  checked<string>({ type: "string", format: "uri", description }, (value) => {
    if (typeof value !== "string") return "must be a string";
    return value.isWellFormed() ? undefined : "must be well-formed Unicode";
  });

/** An fid. JSON parsing has rounded larger numbers. */
export const FidNumber = Type.Integer({ format: "int64", minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/**
 * Creates the reader of values of a schema. It returns the value, or a refusal that names the first invalid field. Unknown
 * fields are ignored unless the schema is closed.
 */
export function schemaReader<S extends TSchema>(
  schema: S,
): (value: unknown, name?: string) => Result<Static<S>, Refusal> {
  let compiled: TypeCheck<S> | undefined;
  return (value, name = "") => {
    compiled ??= TypeCompiler.Compile(schema);
    if (compiled.Check(value)) return ok(value);
    const first = compiled.Errors(value).First();
    return badField(first === undefined ? "request body is not valid" : describe(first, name));
  };
}

/** Unknown keys come from the client, so they are truncated. */
const MAX_SHOWN_KEY_CHARS = 50;

function describe({ type, path, schema, value }: ValueError, root: string): string {
  const keys = path.split("/").slice(1).map(unescapePointer);
  const last = keys.at(-1) ?? "";
  const nameOf = (parts: readonly string[]) => [root, ...parts].filter((part) => part !== "").join(".");
  const parent = nameOf(keys.slice(0, -1)) || "request body";
  const name = /^\d+$/.test(last) ? `every entry of ${parent}` : nameOf(keys) || "request body";
  switch (type) {
    case ValueErrorType.Kind:
      return `${name} ${(schema as CheckedSchema)[fault](value)}`;
    case ValueErrorType.ObjectRequiredProperty:
      return `missing field ${name}`;
    case ValueErrorType.ObjectAdditionalProperties:
      return `${parent} has an unknown key ${JSON.stringify(last.slice(0, MAX_SHOWN_KEY_CHARS))}`;
    case ValueErrorType.Object:
      return `${name} must be an object`;
    case ValueErrorType.Array:
      return `${name} must be an array`;
    case ValueErrorType.ArrayMaxItems:
      return `${name} must have at most ${schema.maxItems} entries`;
    case ValueErrorType.Integer:
    case ValueErrorType.IntegerMinimum:
    case ValueErrorType.IntegerMaximum:
      return `${name} must be an integer from ${schema.minimum} to ${schema.maximum}`;
    case ValueErrorType.String:
      return `${name} must be a string`;
    default:
      return `${name} is not valid`;
  }
}

/** Decodes a key of a JSON pointer (RFC 6901). */
function unescapePointer(key: string): string {
  return key.replaceAll("~1", "/").replaceAll("~0", "~");
}
