import { expect } from "bun:test";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import {
  isObject,
  type Json,
  type JsonObject,
  type OpenApiDocument,
} from "../../src/http/openapi/document.ts";

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

/** Returns the whole paths of an operation's aliases. */
export function aliasesOf(operation: Json | undefined): string[] {
  const aliases = child(operation, "x-aliases");
  return Array.isArray(aliases) ? aliases.map(String) : [];
}

/** The paths of the document, each alias with the operation of its canonical path. */
export function pathsWithAliases(document: OpenApiDocument): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(isObject(item) ? item : {})) {
      for (const each of [path, ...aliasesOf(operation)])
        paths[each] = { ...paths[each], [method]: operation };
    }
  }
  return paths;
}

function canonicalPathOf(document: OpenApiDocument, method: string, path: string): string {
  const listed = Object.entries(document.paths).find(([, item]) =>
    aliasesOf(child(item, method)).includes(path),
  );
  return listed?.[0] ?? path;
}

/**
 * Fails unless the document describes this operation and this status, and the body matches its schema.
 * @param route the route's template as in the document or one of its aliases, `/v2/svc/frame/webhook/{app_id}`
 */
export function expectMatchesOpenApi(
  document: OpenApiDocument,
  method: string,
  route: string,
  status: number,
  body: unknown,
): void {
  const verb = method.toLowerCase();
  const path = canonicalPathOf(document, verb, route);
  const validate = responseValidator(document, ["paths", path, verb, "responses", String(status)]);
  expectValid(validate, body);
}

/** Fails unless the document describes a webhook with this name, and the body of its requests matches its schema. */
export function expectMatchesWebhook(document: OpenApiDocument, name: string, body: unknown): void {
  const schema = pointer("webhooks", name, "post", "requestBody", "content", "application/json", "schema");
  const validate = validatorOf(document).getSchema(`document#${schema}`);
  if (validate === undefined) throw new Error(`the document describes no webhook ${name}`);
  expectValid(validate, body);
}

function expectValid(validate: ValidateFunction, body: unknown): void {
  validate(body);
  const errors = validate.errors ?? [];
  expect(errors.map(({ instancePath, message, params }) => ({ instancePath, message, params }))).toEqual([]);
}

/** Every object within a JSON value. */
export function* objectsIn(value: unknown): Generator<JsonObject> {
  if (Array.isArray(value)) for (const item of value) yield* objectsIn(item);
  else if (typeof value === "object" && value !== null) {
    yield value as JsonObject;
    for (const item of Object.values(value)) yield* objectsIn(item);
  }
}
