import { isRelayPath } from "../policy.ts";
import { ALIASES_KEYWORD } from "./aliases.ts";
import { isObject, type Json, type JsonObject, type OpenApiDocument } from "./document.ts";
import { nameOfTag } from "./publish.ts";

/** A part of the interface with a separate document. */
export interface DocumentedSurface {
  /** The name of its document in URLs. */
  readonly id: string;
  readonly title: string;
  /** The prefix of its paths. */
  readonly basePath: string;
}

/**
 * Returns the part of a document for one of the surfaces: its paths including aliases, under tags without a prefix, and the components to
 * which they refer. The first surface also contains the paths outside of all surfaces, and the webhooks.
 */
export function documentOfSurface(
  document: OpenApiDocument,
  surfaces: readonly DocumentedSurface[],
  surface: DocumentedSurface,
): OpenApiDocument {
  const isFirst = surface === surfaces[0];
  const isWithin = (path: string) => {
    // The relay's paths are next to the hub's, but not part of it.
    const found = isRelayPath(path)
      ? undefined
      : surfaces.find(({ basePath }) => path.startsWith(`${basePath}/`));
    return found === surface || (isFirst && found === undefined);
  };
  const paths: Record<string, JsonObject> = {};
  const tags = new Set<string>();
  for (const [path, item] of Object.entries(document.paths)) {
    if (!isWithin(path) || !isObject(item)) continue;
    for (const [method, operation] of Object.entries(item)) {
      if (!isObject(operation)) continue;
      const own = (Array.isArray(operation.tags) ? operation.tags : []).map((tag) => nameOfTag(String(tag)));
      for (const tag of own) tags.add(tag);
      paths[path] = { ...paths[path], [method]: { ...operation, tags: own } };
      for (const alias of aliasesOf(operation)) {
        paths[alias] = { ...paths[alias], [method]: aliasLine(path, operation, own) };
      }
    }
  }
  const { webhooks, components, ...rest } = document;
  const own = { paths, ...(isFirst && webhooks !== undefined ? { webhooks } : {}) };
  return {
    ...rest,
    info: { ...document.info, title: surface.title },
    tags: namesOf(document.tags)
      .filter((name) => tags.has(name))
      .map((name) => ({ name })),
    ...own,
    components: usedComponents(components, own),
  };
}

/** Returns the names of tags without their prefixes, in order. */
function namesOf(tags: Json | undefined): string[] {
  const names = (Array.isArray(tags) ? tags : []).map((tag) =>
    isObject(tag) ? nameOfTag(String(tag.name)) : "",
  );
  return [...new Set(names)];
}

function aliasesOf({ [ALIASES_KEYWORD]: aliases }: JsonObject): string[] {
  return Array.isArray(aliases) ? aliases.map(String) : [];
}

function aliasLine(path: string, { operationId }: JsonObject, tags: readonly string[]): JsonObject {
  return {
    tags: [...tags],
    summary: `The same as ${path} (${operationId})`,
    responses: { default: { description: "The same" } },
  };
}

const REFERENCE = /^#\/components\/(\w+)\/(\w+)$/;

/** Returns the components to which `root` refers, directly or indirectly. Security schemes are referred to by name. */
function usedComponents(components: JsonObject, root: Json): JsonObject {
  const used = new Map<string, Set<string>>();
  const waiting: Json[] = [root];
  for (const value of waiting) {
    if (Array.isArray(value)) waiting.push(...value);
    if (!isObject(value)) continue;
    waiting.push(...Object.values(value));
    const [, kind = "", name = ""] = REFERENCE.exec(String(value.$ref)) ?? [];
    const ofKind = components[kind];
    if (!isObject(ofKind) || ofKind[name] === undefined || used.get(kind)?.has(name)) continue;
    used.set(kind, (used.get(kind) ?? new Set()).add(name));
    waiting.push(ofKind[name]);
  }
  const kept = Object.entries(components).map(([kind, ofKind]): [string, Json] => [
    kind,
    kind === "securitySchemes" || !isObject(ofKind)
      ? ofKind
      : Object.fromEntries(Object.entries(ofKind).filter(([name]) => used.get(kind)?.has(name))),
  ]);
  return Object.fromEntries(kept);
}
