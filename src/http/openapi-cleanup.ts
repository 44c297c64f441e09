import { basePathOf } from "../config/names.ts";
import { mergeAliases } from "./openapi-aliases.ts";
import { isObject, type Json, type JsonObject, type OpenApiDocument } from "./openapi-document.ts";
import { type DialectExamples, withExample } from "./openapi-examples.ts";

/** `anyOf` of constants of one type is an enumeration. */
function asEnumeration(members: readonly Json[]): JsonObject | undefined {
  const constants = members.map((member) => (isObject(member) ? member.const : undefined));
  const types = new Set(constants.map((constant) => typeof constant));
  const [type] = types;
  if (types.size !== 1 || (type !== "string" && type !== "number")) return undefined;
  return { type, enum: constants as Json[] };
}

interface SchemaContext {
  /** Named schemas that were met; filled on the way. */
  readonly named: Map<string, JsonObject>;
  /** An answer holds what is listed and nothing else; a request may hold more. */
  readonly closed: boolean;
}

function cleanSchemaMap(map: JsonObject, context: SchemaContext): JsonObject {
  return Object.fromEntries(Object.entries(map).map(([key, schema]) => [key, cleanSchema(schema, context)]));
}

/** A named schema becomes a component, once, and its uses refer to it. */
function cleanSchema(schema: Json, context: SchemaContext): Json {
  if (Array.isArray(schema)) return schema.map((member) => cleanSchema(member, context));
  if (!isObject(schema)) return schema;
  const name = schema.$id;
  if (typeof name !== "string") return cleanUnnamed(schema, context);
  if (!context.named.has(name)) {
    // Reserved before its parts are cleaned, so that a schema that holds itself ends.
    const component: JsonObject = {};
    context.named.set(name, component);
    Object.assign(component, cleanUnnamed(schema, context));
  }
  return { $ref: `#/components/schemas/${name}` };
}

function cleanUnnamed(schema: JsonObject, context: SchemaContext): JsonObject {
  const { $ref, anyOf } = schema;
  if (typeof $ref === "string") {
    return { $ref: $ref.startsWith("#/") ? $ref : `#/components/schemas/${$ref}` };
  }
  if (Array.isArray(anyOf)) {
    const enumeration = asEnumeration(anyOf);
    if (enumeration !== undefined) {
      const { anyOf: _replaced, ...rest } = schema;
      return cleanUnnamed({ ...enumeration, ...rest }, context);
    }
  }
  const cleaned: JsonObject = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "$id") continue;
    const isMap = keyword === "properties" || keyword === "patternProperties" || keyword === "$defs";
    const isSchema = keyword === "items" || keyword === "additionalProperties" || keyword === "not";
    if (isMap && isObject(value)) cleaned[keyword] = cleanSchemaMap(value, context);
    else if (isSchema || keyword === "anyOf" || keyword === "allOf" || keyword === "oneOf") {
      cleaned[keyword] = cleanSchema(value, context);
    } else cleaned[keyword] = value;
  }
  if (context.closed && isObject(cleaned.properties) && cleaned.additionalProperties === undefined) {
    cleaned.additionalProperties = false;
  }
  return cleaned;
}

/** The only media type of the interface is JSON, whatever the generator adds. */
function cleanContent(holder: JsonObject, context: SchemaContext): JsonObject {
  const { content, ...rest } = holder;
  const json = isObject(content) ? content["application/json"] : undefined;
  if (!isObject(json)) return rest;
  return {
    ...rest,
    content: { "application/json": { ...json, schema: cleanSchema(json.schema ?? {}, context) } },
  };
}

function cleanParameter(parameter: Json, context: SchemaContext): Json {
  if (!isObject(parameter)) return parameter;
  const { examples, schema, ...rest } = parameter;
  const cleanedSchema = cleanSchema(schema ?? {}, context);
  const cleaned: JsonObject = { ...rest, schema: cleanedSchema };
  const [example] = Array.isArray(examples) ? examples : [];
  if (example !== undefined) cleaned.example ??= example;
  const isArray = isObject(cleanedSchema) && cleanedSchema.type === "array";
  return isArray ? { ...cleaned, style: "form", explode: false } : cleaned;
}

function cleanOperation(operation: JsonObject, named: SchemaContext["named"]): JsonObject {
  const request: SchemaContext = { named, closed: false };
  const { parameters, requestBody, responses, ...rest } = operation;
  const cleaned: JsonObject = { ...rest };
  if (Array.isArray(parameters) && parameters.length > 0) {
    cleaned.parameters = parameters.map((parameter) => cleanParameter(parameter, request));
  }
  if (isObject(requestBody)) cleaned.requestBody = cleanContent(requestBody, request);
  if (isObject(responses)) {
    const entries = Object.entries(responses).map(([status, response]): [string, Json] => [
      status,
      isObject(response) ? cleanContent(response, { named, closed: true }) : response,
    ]);
    cleaned.responses = Object.fromEntries(entries);
  }
  return cleaned;
}

/** The same operation under another prefix of the API is one of its own: `getUser` of `old` becomes `oldGetUser`. */
function underPrefix(operation: JsonObject, prefix: string): JsonObject {
  const id = String(operation.operationId);
  const tags = Array.isArray(operation.tags) ? operation.tags : [];
  return {
    ...operation,
    operationId: prefix + id.charAt(0).toUpperCase() + id.slice(1),
    tags: tags.map((tag) => `${prefix}: ${tag}`),
  };
}

/** Every tag, in the order of first use, which is the order in which Swagger UI shows the groups. */
function usedTags(paths: JsonObject, compatPrefixes: readonly string[]): Json[] {
  const operations = Object.values(paths).flatMap((item) => (isObject(item) ? Object.values(item) : []));
  const tags = operations.flatMap((value) =>
    isObject(value) && Array.isArray(value.tags) ? value.tags : [],
  );
  return [...new Set(tags)].map((name): JsonObject => {
    const prefix = compatPrefixes.find((one) => String(name).startsWith(`${one}: `));
    if (prefix === undefined) return { name };
    return { name, description: `Under \`${basePathOf(prefix)}\`, in the shape of the hosted API` };
  });
}

function mapOperations(
  paths: JsonObject,
  change: (operation: JsonObject, path: string) => JsonObject,
): JsonObject {
  const entries = Object.entries(paths).map(([path, item]): [string, Json] => {
    const operations = Object.entries(isObject(item) ? item : {});
    return [
      path,
      Object.fromEntries(
        operations.flatMap(([method, operation]) =>
          isObject(operation) ? [[method, change(operation, path)]] : [],
        ),
      ),
    ];
  });
  return Object.fromEntries(entries);
}

interface CleanupOptions {
  readonly basePath: string;
  readonly compatPrefixes: readonly string[];
  readonly examples: DialectExamples;
  /** Path items by the name of an event, in the generator's form. */
  readonly webhooks: JsonObject;
}

/**
 * Turns the generator's document into the one that is published: one media type, true types, named schemas as
 * components, no keyword of the framework. It is OpenAPI 3.1, whose schemas are plain JSON Schema.
 */
export function cleanOpenApi(raw: OpenApiDocument, options: CleanupOptions): OpenApiDocument {
  const { basePath, compatPrefixes, examples, webhooks } = options;
  const named: SchemaContext["named"] = new Map();
  const basePaths = [basePath, ...compatPrefixes.map(basePathOf)];
  const paths = mapOperations(mergeAliases(raw.paths, basePaths), (operation, path) => {
    const prefix = compatPrefixes.find((name) => path.startsWith(`${basePathOf(name)}/`));
    const id = String(operation.operationId);
    const example = (prefix === undefined ? undefined : examples.compat[id]) ?? examples.native[id];
    const shown = example === undefined ? operation : withExample(operation, example);
    const cleaned = cleanOperation(shown, named);
    return prefix === undefined ? cleaned : underPrefix(cleaned, prefix);
  });
  const cleanedWebhooks = mapOperations(webhooks, (operation) => cleanOperation(operation, named));
  const given = isObject(raw.components.schemas) ? raw.components.schemas : {};
  const schemas = cleanSchemaMap(given, { named, closed: true });
  const byName = [...Object.entries(schemas), ...named].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    ...raw,
    openapi: "3.1.0",
    tags: usedTags(paths, compatPrefixes),
    paths,
    ...(Object.keys(webhooks).length === 0 ? {} : { webhooks: cleanedWebhooks }),
    components: { ...raw.components, schemas: Object.fromEntries(byName) },
  };
}
