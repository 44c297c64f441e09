import { Kind, type Static, type TSchema, type TUnsafe, Type, TypeRegistry } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { formInWords } from "../http/response/validation-message.ts";
import { didYouMean } from "../lib/mistakes/nearest.ts";
import { ok, type Result } from "../lib/result.ts";
import { textFault } from "./fields.ts";
import {
  type CreateBody,
  NAME,
  type RecordField,
  type RecordFields,
  type UpdateBody,
} from "./record-fields.ts";
import { badField, type Refusal } from "./refusal.ts";

/**
 * Schemas of request bodies. One schema documents a body and decides which bodies a service accepts. Services validate only after they
 * have looked up the record and its owner, so an unknown or foreign record is reported before an invalid field.
 */

/** Returns what is wrong with a value, as text that follows the name of its field; undefined if it is valid. */
export type Fault = (value: unknown) => string | undefined;

const fault = Symbol("fault");

interface CheckedSchema extends TSchema {
  readonly [fault]: Fault;
}

const CHECKED = "Checked";
TypeRegistry.Set<CheckedSchema>(CHECKED, (schema, value) => schema[fault](value) === undefined);

/** Creates a schema with a rule that JSON Schema cannot express. `documented` is its JSON Schema for clients. */
export function checked<T>(documented: object, check: Fault): TUnsafe<T> {
  return Type.Unsafe<T>({ ...documented, [Kind]: CHECKED, [fault]: check });
}

/**
 * Creates a schema for text with a length in Unicode code points. Refuses NUL and lone surrogates, which not every database stores
 * unchanged.
 */
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

/** Name of an app or webhook. */
export const Name = schemaOf(NAME) as TUnsafe<string>;

/** An fid. JSON parsing would round larger numbers. */
export const FidNumber = Type.Integer({ format: "int64", minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

type Absent = Readonly<Record<never, never>>;

/** Returns the schemas of the bodies that create and change a `<name>`. */
export function bodySchemas<
  const F extends RecordFields,
  E extends Readonly<Record<string, TSchema>> = Absent,
>(
  name: string,
  options: {
    readonly idKey: string;
    readonly fields: F;
    /** Fields with their own schemas, required for a new record. */
    readonly others?: E;
  },
) {
  const { idKey, fields, others = {} as E } = options;
  const entries = Object.entries<RecordField>(fields);
  const optional = (field: RecordField) => Type.Optional(schemaOf(field));
  const create = entries
    .filter(([, { isForUpdate }]) => !isForUpdate)
    .map(([key, field]) => [key, field.isRequired ? schemaOf(field) : optional(field)]);
  const update = entries.map(([key, field]) => [key, optional(field)]);
  return {
    create: Type.Object(
      { ...Object.fromEntries(create), ...others },
      { $id: `Create${name}Request` },
    ) as TSchema as TUnsafe<CreateBody<F> & { [Name in keyof E]: Static<E[Name]> }>,
    update: Type.Object(
      {
        [idKey]: Type.String(),
        ...Object.fromEntries(update),
        ...Object.fromEntries(Object.entries(others).map(([key, schema]) => [key, Type.Optional(schema)])),
      },
      { $id: `Update${name}Request` },
    ) as TSchema as TUnsafe<UpdateBody<F> & { [Name in keyof E]?: Static<E[Name]> }>,
  };
}

/** Returns the schema of a field's values. */
export function schemaOf(field: RecordField): TSchema {
  const { type, maxItems, nullHelp, description } = field;
  const described = description === undefined ? {} : { description };
  if (type === "fids") return Type.Array(FidNumber, { ...(maxItems && { maxItems }), ...described });
  const documented = documentedType({ ...field, type });
  const fault = faultOf({ ...field, type });
  if (nullHelp === undefined) return checked({ ...documented, ...described }, fault);
  return checked({ anyOf: [documented, { type: "null" }], ...described }, (value) =>
    value === null ? undefined : fault(value),
  );
}

type CheckedField = RecordField & { readonly type: Exclude<RecordField["type"], "fids"> };

/** Returns the JSON Schema of a field's values. */
function documentedType({ type, min, max, maxItems, choices = [] }: CheckedField): object {
  switch (type) {
    case "text":
      return { type: "string", ...(min && { minLength: min }), ...(max && { maxLength: max }) };
    case "url":
      return { type: "string", format: "uri" };
    case "whole":
      return { type: "integer", minimum: min };
    case "boolean":
      return { type: "boolean" };
    case "texts": {
      const items = choices.length > 0 ? { enum: [...choices] } : {};
      return {
        type: "array",
        items: { type: "string", ...items },
        minItems: min ?? 1,
        ...(maxItems && { maxItems }),
        uniqueItems: true,
      };
    }
  }
}

/** Returns the rule of a field; its text follows the field's name. `checkUrlField` checks URLs further. */
function faultOf({ type, min, max, maxItems, choices = [], acceptsText, nullHelp }: CheckedField): Fault {
  switch (type) {
    case "text":
      return max === undefined
        ? (value) => (typeof value === "string" ? undefined : `must be a string${nullHelp ? " or null" : ""}`)
        : textFault({ min: min ?? 0, max });
    case "url":
      return (value) => {
        if (typeof value !== "string") return "must be a string";
        return value.isWellFormed() ? undefined : "must be well-formed Unicode";
      };
    case "whole":
      return (value) =>
        Number.isSafeInteger(value) && Number(value) >= (min ?? 0)
          ? undefined
          : `must be a whole number of at least ${min ?? 0}${nullHelp ? ", or null" : ""}`;
    case "boolean":
      return (value) =>
        typeof value === "boolean" || (acceptsText && (value === "true" || value === "false"))
          ? undefined
          : "must be true or false";
    case "texts":
      if (choices.length === 0) return textListFault(min ?? 1, maxItems);
      return (value) => {
        if (!Array.isArray(value) || value.length === 0 || !value.every((each) => choices.includes(each)))
          return `must be a list of at least one of ${choices.join(", ")}`;
        return new Set(value).size === value.length ? undefined : "must not name an entry twice";
      };
  }
}

const MAX_LISTED_CHARS = 2048;

/** Returns the rule for a list of texts without duplicates. */
function textListFault(min: number, max = Number.POSITIVE_INFINITY): Fault {
  const each = textFault({ min: 1, max: MAX_LISTED_CHARS });
  return (value) => {
    if (!Array.isArray(value)) return "must be a list";
    if (value.length < min || value.length > max) return `must have ${min} to ${max} entries`;
    const wrong = value.map(each).find((fault) => fault !== undefined);
    if (wrong !== undefined) return `must have entries of which each ${wrong}`;
    return new Set(value).size === value.length ? undefined : "must not name an entry twice";
  };
}

/**
 * Creates a reader of values of a schema. It returns the value, or a refusal that names the first invalid field. Ignores unknown fields
 * unless the schema is closed.
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

/**
 * @param parent name of the value that has the key.
 * @param known the keys that it may have, one of which may have been meant.
 */
export function unknownKey(parent: string, key: string, known: Iterable<string> = []): string {
  const shown = key.slice(0, MAX_SHOWN_KEY_CHARS);
  return `${parent} has an unknown key ${JSON.stringify(shown)}${didYouMean(shown, known)}`;
}

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
      return unknownKey(parent, last, Object.keys(schema.properties ?? {}));
    case ValueErrorType.Object:
      return `${name} must be an object`;
    case ValueErrorType.Array:
      return `${name} must be an array`;
    case ValueErrorType.ArrayMaxItems:
      return `${name} must have at most ${schema.maxItems} entries`;
    case ValueErrorType.ArrayMinItems:
      return `${name} must have at least ${schema.minItems} ${schema.minItems === 1 ? "entry" : "entries"}`;
    case ValueErrorType.Integer:
    case ValueErrorType.IntegerMinimum:
    case ValueErrorType.IntegerMaximum:
      return `${name} must be an integer from ${schema.minimum} to ${schema.maximum ?? Number.MAX_SAFE_INTEGER}`;
    case ValueErrorType.Boolean:
      return `${name} must be true or false`;
    case ValueErrorType.String:
      return `${name} must be a string`;
    case ValueErrorType.StringMaxLength:
      return `${name} must have at most ${schema.maxLength} characters`;
    case ValueErrorType.StringMinLength:
      return `${name} must have at least ${schema.minLength} character${schema.minLength === 1 ? "" : "s"}`;
    case ValueErrorType.StringPattern: {
      const form = formInWords(String(schema.pattern));
      return form === undefined ? `${name} is not valid` : `${name} must be ${form}`;
    }
    default:
      return `${name} is not valid`;
  }
}

/** Decodes a key of a JSON pointer (RFC 6901). */
function unescapePointer(key: string): string {
  return key.replaceAll("~1", "/").replaceAll("~0", "~");
}
