import type { TSchema } from "@sinclair/typebox";
import type { ValueError } from "@sinclair/typebox/errors";
import { ValueErrorType } from "@sinclair/typebox/errors";
import type { ValidationError } from "elysia";
import { didYouMean } from "../../lib/mistakes/nearest.ts";

/** Longer field names come from the client and are truncated. */
const maxFieldChars = 100;

/**
 * Returns one short sentence that names the first invalid field of a body and the rule it violates, and never the
 * value.
 */
export function describeValueError({
  path,
  type,
  message,
  schema,
}: Pick<ValueError, "path" | "type" | "message"> & { readonly schema?: TSchema }): string {
  const field = path.slice(1).replaceAll("/", ".").slice(0, maxFieldChars);
  if (type === ValueErrorType.ObjectRequiredProperty) return `missing field ${field}`;
  if (type === ValueErrorType.ObjectAdditionalProperties) {
    const name = field.slice(field.lastIndexOf(".") + 1);
    return `unknown field ${field}${didYouMean(name, Object.keys(schema?.properties ?? {}))}`;
  }
  const form = type === ValueErrorType.StringPattern ? formInWords(String(schema?.pattern)) : undefined;
  if (form !== undefined) return `${field === "" ? "body" : field} must be ${form}`;
  const rule = message.charAt(0).toLowerCase() + message.slice(1);
  return `${field === "" ? "body" : field}: ${rule}`;
}

const SETS: Readonly<Record<string, string>> = {
  "0-9": "digits",
  "0-9a-f": "lower-case hex digits",
  "0-9a-fA-F": "hex digits",
  "a-zA-Z0-9": "letters and digits",
  "a-z0-9_-": "lower-case letters, digits, _ and -",
  "1-9A-HJ-NP-Za-km-z": "characters of base58 (letters and digits without 0, O, I and l)",
};

/** Describes texts that match the pattern in words; undefined for a pattern of another shape. */
export function formInWords(pattern: string): string | undefined {
  const [, prefix = "", set = "", least, most] =
    /^\^(0x)?\[(.+)\]\{(\d+)(?:,(\d+))?\}\$$/.exec(pattern) ?? [];
  const words = SETS[set];
  if (words === undefined) return undefined;
  const count = most === undefined ? least : `${least} to ${most}`;
  return `${prefix === "" ? "" : "0x and "}${count} ${words}`;
}

/** Describes an error of a schema that Elysia itself validates. */
export function describeValidationError(error: ValidationError): string {
  const first: unknown = error.valueError;
  if (typeof first !== "object" || first === null || !("path" in first) || !("message" in first)) {
    return "bad request";
  }
  const type = "type" in first ? (first.type as ValueErrorType) : ValueErrorType.Never;
  return describeValueError({ path: String(first.path), type, message: String(first.message) });
}
