import { isObject, type Json, type JsonObject } from "./document.ts";

/*
 * Converts the schemas of the routes, which are TypeBox's, to the form of the published document. `operation` writes
 * everything else in its final form. Each part is needed:
 *
 * - Named schemas (`$id`) become components. TypeBox inlines a copy at each use, which makes the document six times as
 *   large and gives the classes of generated clients no names. Elysia's own models cannot replace this: they are names
 *   for whole bodies, but most named schemas are parts of others.
 * - A TypeBox reference has the bare name of its schema; a document needs a path to it.
 * - A union of constants becomes an `enum`. Client generators turn `anyOf` with `const` into a class for each constant.
 */

const COMPONENTS = "#/components/schemas/";

/** Keywords whose value is a schema or a list of schemas. */
const SCHEMA_KEYWORDS = new Set(["items", "additionalProperties", "not", "anyOf", "allOf", "oneOf"]);
/** Keywords whose value is a map of schemas. */
const MAP_KEYWORDS = new Set(["properties", "patternProperties", "$defs"]);

/** Converts the schemas of operations and collects the named ones. */
export class SchemaCleanup {
  readonly #named = new Map<string, JsonObject>();

  /** Converts the schemas in the parameters, the body and the responses of an operation. */
  operation({ parameters, requestBody, responses, ...rest }: JsonObject): JsonObject {
    const cleaned: JsonObject = { ...rest };
    if (Array.isArray(parameters)) cleaned.parameters = parameters.map((one) => this.#withCleanSchema(one));
    if (requestBody !== undefined) cleaned.requestBody = this.#withCleanContent(requestBody);
    if (isObject(responses))
      cleaned.responses = Object.fromEntries(
        Object.entries(responses).map(([status, one]) => [status, this.#cleanResponse(status, one)]),
      );
    return cleaned;
  }

  /** Returns the components of `declared` and of all operations converted so far, by name. */
  schemas(declared: JsonObject): JsonObject {
    const schemas = Object.entries(mapValues(declared, (schema) => this.#clean(schema)));
    return Object.fromEntries([...schemas, ...this.#named].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** A 204 has no body, whatever type its route declares. */
  #cleanResponse(status: string, response: Json): Json {
    if (status !== "204" || !isObject(response)) return this.#withCleanContent(response);
    const { content: _, ...rest } = response;
    return rest;
  }

  #withCleanContent(holder: Json): Json {
    if (!isObject(holder) || !isObject(holder.content)) return holder;
    return { ...holder, content: mapValues(holder.content, (media) => this.#withCleanSchema(media)) };
  }

  #withCleanSchema(holder: Json): Json {
    return isObject(holder) ? { ...holder, schema: this.#clean(holder.schema ?? {}) } : holder;
  }

  #clean(schema: Json): Json {
    if (Array.isArray(schema)) return schema.map((member) => this.#clean(member));
    if (!isObject(schema)) return schema;
    const name = schema.$id;
    if (typeof name !== "string") return this.#cleanUnnamed(schema);
    if (!this.#named.has(name)) {
      // Reserved before its parts are converted, so that a recursive schema terminates.
      const component: JsonObject = {};
      this.#named.set(name, component);
      const { $id: _, ...unnamed } = schema;
      Object.assign(component, this.#cleanUnnamed(unnamed));
    }
    return { $ref: COMPONENTS + name };
  }

  #cleanUnnamed(schema: JsonObject): JsonObject {
    const { $ref, anyOf, ...rest } = schema;
    if (typeof $ref === "string") return { $ref: $ref.startsWith("#/") ? $ref : COMPONENTS + $ref };
    const enumeration = Array.isArray(anyOf) ? asEnumeration(anyOf) : undefined;
    const entries = Object.entries(enumeration ? { ...enumeration, ...rest } : schema);
    const cleaned = entries.map(([keyword, value]): [string, Json] => {
      if (SCHEMA_KEYWORDS.has(keyword)) return [keyword, this.#clean(value)];
      if (!MAP_KEYWORDS.has(keyword) || !isObject(value)) return [keyword, value];
      return [keyword, mapValues(value, (member) => this.#clean(member))];
    });
    return Object.fromEntries(cleaned);
  }
}

/** Converts an `anyOf` of constants of one type to an enumeration; undefined for any other `anyOf`. */
function asEnumeration(members: readonly Json[]): JsonObject | undefined {
  const constants = members.map((member) => (isObject(member) ? member.const : undefined));
  const types = new Set(constants.map((constant) => typeof constant));
  const [type] = types;
  if (types.size !== 1 || (type !== "string" && type !== "number")) return undefined;
  return { type, enum: constants as Json[] };
}

function mapValues(object: JsonObject, change: (value: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
