import type { ValueError } from "@sinclair/typebox/errors";
import { ValueErrorType } from "@sinclair/typebox/errors";
import type { ValidationError } from "elysia";

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
}: Pick<ValueError, "path" | "type" | "message">): string {
  const field = path.slice(1).replaceAll("/", ".").slice(0, maxFieldChars);
  if (type === ValueErrorType.ObjectRequiredProperty) return `missing field ${field}`;
  if (type === ValueErrorType.ObjectAdditionalProperties) return `unknown field ${field}`;
  const rule = message.charAt(0).toLowerCase() + message.slice(1);
  return `${field === "" ? "body" : field}: ${rule}`;
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
