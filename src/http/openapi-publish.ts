import { basePathOf } from "../config/names.ts";
import { mergeAliases } from "./openapi-aliases.ts";
import { createCleanup } from "./openapi-cleanup.ts";
import { isObject, type Json, type JsonObject, type OpenApiDocument } from "./openapi-document.ts";
import { type DialectExamples, withExample } from "./openapi-examples.ts";

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

/** The path items with `change` applied to every operation. */
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
  /** Path items by the name of an event, in the generator's form. */
  readonly webhooks: JsonObject;
}

/**
 * Turns the generator's document into the published one: each operation once, with its aliases and its example, under
 * ids and tags of its prefix; named schemas as components; webhooks. It is OpenAPI 3.1, whose schemas are plain JSON Schema
 * and which has webhooks; the generator's 3.0 has neither.
 */
export function publishOpenApi(raw: OpenApiDocument, options: PublishOptions): OpenApiDocument {
  const { basePath, compatPrefixes, examples, webhooks } = options;
  const cleanup = createCleanup();
  const basePaths = [basePath, ...compatPrefixes.map(basePathOf)];
  const paths = mapOperations(mergeAliases(raw.paths, basePaths), (operation, path) => {
    const prefix = compatPrefixes.find((name) => path.startsWith(`${basePathOf(name)}/`));
    const id = String(operation.operationId);
    const example = (prefix === undefined ? undefined : examples.compat[id]) ?? examples.native[id];
    const shown = example === undefined ? operation : withExample(operation, example);
    const cleaned = cleanup.operation(shown);
    return prefix === undefined ? cleaned : underPrefix(cleaned, prefix);
  });
  const cleanedWebhooks = mapOperations(webhooks, cleanup.operation);
  const given = isObject(raw.components.schemas) ? raw.components.schemas : {};
  return {
    ...raw,
    openapi: "3.1.0",
    tags: usedTags(paths, compatPrefixes),
    paths,
    ...(Object.keys(webhooks).length === 0 ? {} : { webhooks: cleanedWebhooks }),
    components: { ...raw.components, schemas: cleanup.schemas(given) },
  };
}
