import { isObject, type Json, type JsonObject } from "./document.ts";

/** Keyword of an operation in the generator's document. Its value is the canonical path, relative to the prefix. */
export const ALIAS_KEYWORD = "x-alias-of";

/**
 * Keyword of a canonical operation in the published document. Its value is the list of the full paths of its aliases.
 */
export const ALIASES_KEYWORD = "x-aliases";

/**
 * Returns the paths without aliases. Each canonical operation lists its aliases in its description and, for programs, under `x-aliases`.
 * @param basePaths prefixes of the API, for example `/v2/svc`; an alias and its canonical path have the same prefix
 * @throws Error if the canonical path of an alias has no operation of the same method
 */
export function mergeAliases(paths: JsonObject, basePaths: readonly string[]): JsonObject {
  const merged: JsonObject = {};
  const aliases: { method: string; path: string; canonicalPath: string }[] = [];
  for (const [path, item] of Object.entries(paths)) {
    const operations: [string, Json][] = [];
    for (const [method, operation] of Object.entries(isObject(item) ? item : {})) {
      const canonicalPath = isObject(operation) ? operation[ALIAS_KEYWORD] : undefined;
      if (typeof canonicalPath !== "string") operations.push([method, operation]);
      else {
        const basePath = basePaths.find((base) => path.startsWith(`${base}/`)) ?? "";
        aliases.push({ method, path, canonicalPath: basePath + canonicalPath });
      }
    }
    if (operations.length > 0) merged[path] = Object.fromEntries(operations);
  }
  for (const { method, path, canonicalPath } of aliases) {
    const item = merged[canonicalPath];
    const operation = isObject(item) ? item[method] : undefined;
    if (!isObject(item) || !isObject(operation)) throw new Error(`${path} is an alias of no path`);
    const previous = operation[ALIASES_KEYWORD];
    item[method] = { ...operation, [ALIASES_KEYWORD]: [...(Array.isArray(previous) ? previous : []), path] };
  }
  for (const item of Object.values(merged)) {
    if (!isObject(item)) continue;
    for (const [method, operation] of Object.entries(item)) {
      if (isObject(operation)) item[method] = withAliasText(operation);
    }
  }
  return merged;
}

function withAliasText(operation: JsonObject): JsonObject {
  const aliases = operation[ALIASES_KEYWORD];
  if (!Array.isArray(aliases)) return operation;
  const list = aliases.map((path) => `\`${path}\``).join(", ");
  const sentence = `${aliases.length === 1 ? "Alias" : "Aliases"}: ${list}.`;
  const { description } = operation;
  return {
    ...operation,
    description: typeof description === "string" ? `${description}\n\n${sentence}` : sentence,
  };
}
