import { expect } from "bun:test";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { isObject, type Json, type OpenApiDocument } from "../../src/http/openapi-document.ts";

const validators = new WeakMap<OpenApiDocument, Ajv2020>();

function validatorOf(document: OpenApiDocument): Ajv2020 {
  let ajv = validators.get(document);
  if (ajv === undefined) {
    ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
    addFormats.default(ajv);
    ajv.addSchema(document, "document");
    validators.set(document, ajv);
  }
  return ajv;
}

const pointer = (...parts: string[]) =>
  parts.map((part) => `/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

const child = (value: Json | undefined, key: string) => (isObject(value) ? value[key] : undefined);

function responseValidator(document: OpenApiDocument, parts: readonly string[]): ValidateFunction {
  const described = parts.reduce<Json | undefined>(child, document);
  const shared = child(described, "$ref");
  const at = typeof shared === "string" ? shared.slice(1) : pointer(...parts);
  const schema = `document#${at}${pointer("content", "application/json", "schema")}`;
  const validate = described === undefined ? undefined : validatorOf(document).getSchema(schema);
  if (validate === undefined) throw new Error(`the document describes no JSON body at ${parts.join(" ")}`);
  return validate;
}

/**
 * Fails unless the document describes this operation and this status, and the body is as it says.
 * @param route the route's template as in the document, `/v2/svc/frame/webhook/{app_id}`
 */
export function expectMatchesOpenApi(
  document: OpenApiDocument,
  method: string,
  route: string,
  status: number,
  body: unknown,
): void {
  const validate = responseValidator(document, [
    "paths",
    route,
    method.toLowerCase(),
    "responses",
    String(status),
  ]);
  validate(body);
  const errors = validate.errors ?? [];
  expect(errors.map(({ instancePath, message, params }) => ({ instancePath, message, params }))).toEqual([]);
}
