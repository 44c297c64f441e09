import { isObject, type Json, type JsonObject } from "./openapi-document.ts";

/*
 * @elysiajs/swagger copies the schemas of the routes unchanged. Without this cleanup the document is six times as
 * large (each use of a named schema is a copy), lists media types that no route accepts, and describes lists and
 * enumerations in forms that client generators misread.
 */

/** Converts an `anyOf` of constants of one type to an enumeration; undefined for any other `anyOf`. */
function asEnumeration(members: readonly Json[]): JsonObject | undefined {
  const constants = members.map((member) => (isObject(member) ? member.const : undefined));
  const types = new Set(constants.map((constant) => typeof constant));
  const [type] = types;
  if (types.size !== 1 || (type !== "string" && type !== "number")) return undefined;
  return { type, enum: constants as Json[] };
}

interface SchemaContext {
  /** The named schemas collected from the operations cleaned so far. */
  readonly named: Map<string, JsonObject>;
  /** True for responses, which contain only the listed properties. Requests may contain others. */
  readonly closed: boolean;
}

function cleanSchemaMap(map: JsonObject, context: SchemaContext): JsonObject {
  return Object.fromEntries(Object.entries(map).map(([key, schema]) => [key, cleanSchema(schema, context)]));
}

/** Moves a named schema to the components, once, and replaces each use by a reference. */
function cleanSchema(schema: Json, context: SchemaContext): Json {
  if (Array.isArray(schema)) return schema.map((member) => cleanSchema(member, context));
  if (!isObject(schema)) return schema;
  const name = schema.$id;
  if (typeof name !== "string") return cleanUnnamed(schema, context);
  if (!context.named.has(name)) {
    // Reserved before its parts are cleaned, so that a recursive schema terminates.
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

/** Removes all media types but JSON, the only one that the interface uses. */
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

/** Cleans operations and collects the named schemas that they use. */
export interface OpenApiCleanup {
  readonly operation: (operation: JsonObject) => JsonObject;
  /** Returns the components of `declared` and of all cleaned operations, by name. */
  readonly schemas: (declared: JsonObject) => JsonObject;
}

export function createCleanup(): OpenApiCleanup {
  const named: SchemaContext["named"] = new Map();
  const request: SchemaContext = { named, closed: false };
  const response: SchemaContext = { named, closed: true };
  return {
    operation({ parameters, requestBody, responses, ...rest }) {
      const cleaned: JsonObject = { ...rest };
      if (Array.isArray(parameters) && parameters.length > 0) {
        cleaned.parameters = parameters.map((parameter) => cleanParameter(parameter, request));
      }
      if (isObject(requestBody)) cleaned.requestBody = cleanContent(requestBody, request);
      if (isObject(responses)) {
        const entries = Object.entries(responses).map(([status, one]): [string, Json] => [
          status,
          isObject(one) ? cleanContent(one, response) : one,
        ]);
        cleaned.responses = Object.fromEntries(entries);
      }
      return cleaned;
    },

    schemas(declared) {
      const schemas = cleanSchemaMap(declared, response);
      const byName = [...Object.entries(schemas), ...named].toSorted(([a], [b]) => (a < b ? -1 : 1));
      return Object.fromEntries(byName);
    },
  };
}
