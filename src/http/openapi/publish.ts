import { basePathOf } from "../../config/names.ts";
import { errorKinds } from "../errors.ts";
import { mergeAliases } from "./aliases.ts";
import { SchemaCleanup } from "./cleanup.ts";
import { isObject, type Json, type JsonObject, type OpenApiDocument } from "./document.ts";
import { type DialectExamples, withExample } from "./examples.ts";

/**
 * Gives an operation under another prefix of the API its own id and tags: `getUser` under `old` becomes `oldGetUser`.
 */
function underPrefix(operation: JsonObject, prefix: string): JsonObject {
  const id = String(operation.operationId);
  const tags = Array.isArray(operation.tags) ? operation.tags : [];
  return {
    ...operation,
    operationId: prefix + id.charAt(0).toUpperCase() + id.slice(1),
    tags: tags.map((tag) => `${prefix}: ${tag}`),
  };
}

/** Adds the responses that Bun itself may send for every path. */
function withRuntimeErrors({ responses, ...operation }: JsonObject): JsonObject {
  const entries = Object.entries(errorKinds).flatMap(([name, kind]): [string, Json][] =>
    "isOfRuntime" in kind ? [[String(kind.status), { $ref: `#/components/responses/${name}` }]] : [],
  );
  return {
    ...operation,
    responses: { ...(isObject(responses) ? responses : {}), ...Object.fromEntries(entries) },
  };
}

/** The groups that most readers look for, and the one that only operators do. */
const FIRST_TAGS = ["Users", "Casts", "Feeds"];
const LAST_TAG = "Operations";

/** Returns the name of a tag without the prefix of its API. */
export function nameOfTag(tag: string): string {
  return tag.replace(/^[^:]*: /, "");
}

/** Returns the place of a tag among those of its prefix. */
function rankOf(tag: string): number {
  const at = FIRST_TAGS.indexOf(nameOfTag(tag));
  return at >= 0 ? at : FIRST_TAGS.length;
}

/** Returns the tags of each prefix after one another, in order of first use but for those with a place of their own. */
function inReadingOrder(tags: readonly string[]): string[] {
  const groups = new Map<string, string[]>();
  for (const tag of tags) {
    const prefix = tag === LAST_TAG ? LAST_TAG : (/^([^:]*): /.exec(tag)?.[1] ?? "");
    groups.set(prefix, [...(groups.get(prefix) ?? []), tag]);
  }
  const last = groups.get(LAST_TAG) ?? [];
  groups.delete(LAST_TAG);
  return [...groups.values(), last].flatMap((group) => group.toSorted((a, b) => rankOf(a) - rankOf(b)));
}

/** Returns every tag in the order in which Swagger UI shows the groups. */
function usedTags(paths: JsonObject, compatPrefixes: readonly string[]): Json[] {
  const operations = Object.values(paths).flatMap((item) => (isObject(item) ? Object.values(item) : []));
  const tags = operations.flatMap((value) =>
    isObject(value) && Array.isArray(value.tags) ? value.tags : [],
  );
  return inReadingOrder([...new Set(tags.map(String))]).map((name): JsonObject => {
    const prefix = compatPrefixes.find((one) => name.startsWith(`${one}: `));
    if (prefix === undefined) return { name };
    return { name, description: `Under \`${basePathOf(prefix)}\`, in the shape of the hosted API` };
  });
}

/** Applies `change` to every operation of the path items. */
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

interface PublishOptions {
  readonly basePath: string;
  readonly compatPrefixes: readonly string[];
  readonly examples: DialectExamples;
  /** Path items by event name, in the generator's form. */
  readonly webhooks: JsonObject;
}

/**
 * Converts the generator's document to the published one: each operation once, with its aliases, its example, and the
 * id and tags of its prefix; named schemas as components; webhooks. The result is OpenAPI 3.1, because 3.0 (the
 * generator's version) has neither webhooks nor plain JSON Schema.
 */
export function publishOpenApi(raw: OpenApiDocument, options: PublishOptions): OpenApiDocument {
  const { basePath, compatPrefixes, examples, webhooks } = options;
  const cleanup = new SchemaCleanup();
  const basePaths = [basePath, ...compatPrefixes.map(basePathOf)];
  const paths = mapOperations(mergeAliases(raw.paths, basePaths), (operation, path) => {
    const prefix = compatPrefixes.find((name) => path.startsWith(`${basePathOf(name)}/`));
    const id = String(operation.operationId);
    const example = (prefix === undefined ? undefined : examples.compat[id]) ?? examples.native[id];
    const withItsExample = example === undefined ? operation : withExample(operation, example);
    const cleaned = withRuntimeErrors(cleanup.operation(withItsExample));
    return prefix === undefined ? cleaned : underPrefix(cleaned, prefix);
  });
  const cleanedWebhooks = mapOperations(webhooks, (operation) => cleanup.operation(operation));
  const declared = isObject(raw.components.schemas) ? raw.components.schemas : {};
  return {
    ...raw,
    openapi: "3.1.0",
    tags: usedTags(paths, compatPrefixes),
    paths,
    ...(Object.keys(webhooks).length === 0 ? {} : { webhooks: cleanedWebhooks }),
    components: { ...raw.components, schemas: cleanup.schemas(declared) },
  };
}
