import { ApiError } from "../http/errors.ts";
import { isObject, type Json, type JsonObject, type OpenApiDocument } from "../http/openapi/document.ts";
import type { OwnOrigin } from "../http/request/own-origin.ts";
import { parseQueryString } from "../http/request/query-string.ts";
import { loadOnce } from "../lib/promises.ts";
import { privateRoutes } from "./routes.ts";
import type { OperationForm, OperationLine } from "./web/call/operation.ts";

/** Object members deeper than this are typed as JSON, so their schemas stay in the document. */
const MAX_DEPTH = 1;
const hidden = { detail: { hide: true } } as const;

const text = (value: Json | undefined) => (typeof value === "string" ? value : undefined);

/**
 * Serves the parts of the OpenAPI document from which the form of a call is built: without an id, a line per operation; with an id, its
 * parameters and body. Operations of the compat dialect are not listed, because their ids are the native ones with a prefix.
 */
export function operationRoutes(deps: {
  readonly own: OwnOrigin;
  readonly document: () => Promise<OpenApiDocument>;
  /** The prefixes of the compat dialect, as in `/v2/farcaster`. */
  readonly compatPaths: readonly string[];
}) {
  const operations = loadOnce(async () => operationsOf(await deps.document(), deps.compatPaths));
  return privateRoutes("/console/api", deps.own).get(
    "/operation",
    async ({ request }) => {
      const { lines, formOf } = await operations();
      const [id] = parseQueryString(request.url).id ?? [];
      if (id === undefined) return { operations: lines };
      const form = formOf(id);
      if (!form) throw new ApiError("notFound", "the API has no such operation");
      return form;
    },
    hidden,
  );
}

export function operationsOf(document: OpenApiDocument, compatPaths: readonly string[]) {
  const found = new Map<string, { readonly line: OperationLine; readonly operation: JsonObject }>();
  for (const [path, item] of Object.entries(document.paths)) {
    if (compatPaths.some((compat) => path.startsWith(`${compat}/`)) || !isObject(item)) continue;
    for (const [method, operation] of Object.entries(item)) {
      if (!isObject(operation)) continue;
      const id = String(operation.operationId);
      const [tag] = Array.isArray(operation.tags) ? operation.tags : [];
      const line = {
        id,
        method: method.toUpperCase(),
        path,
        summary: text(operation.summary) ?? id,
        tag: text(tag) ?? "",
      };
      found.set(id, { line, operation });
    }
  }
  const formOf = (id: string): OperationForm | undefined => {
    const { line, operation } = found.get(id) ?? {};
    if (!line || !operation) return undefined;
    const { parameters, requestBody, description } = operation;
    const content = isObject(requestBody) && isObject(requestBody.content) ? requestBody.content : {};
    const json = content["application/json"];
    return {
      ...line,
      ...(typeof description === "string" && { description }),
      access: accessOf(operation),
      isStream: JSON.stringify(operation.responses).includes("text/event-stream"),
      parameters: (Array.isArray(parameters) ? parameters : []).map((one) => inPlace(document, one, 0)),
      ...(isObject(json) && {
        body: {
          schema: inPlace(document, json.schema ?? {}, 0),
          ...(json.example !== undefined && { example: json.example }),
        },
      }),
    } as unknown as OperationForm;
  };
  return { lines: [...found.values()].map(({ line }) => line), formOf };
}

/** Returns who may call an operation: `session` also with the key of a session, `envelope` with a body that is itself signed. */
function accessOf({ security }: JsonObject): OperationForm["access"] {
  const schemes = new Set(
    (Array.isArray(security) ? security : []).flatMap((one) => Object.keys(Object(one))),
  );
  if (schemes.has("session")) return "session";
  if (schemes.has("signedSignature")) return "signed";
  if (schemes.has("signedEnvelope")) return "envelope";
  return schemes.has("apiKey") ? "key" : "open";
}

/** Returns a value of the document with its references resolved. */
function inPlace(document: OpenApiDocument, value: Json, depth: number): Json {
  if (Array.isArray(value)) return value.map((one) => inPlace(document, one, depth));
  if (!isObject(value)) return value;
  if (typeof value.$ref === "string") return inPlace(document, atPointer(document, value.$ref), depth);
  const { properties, patternProperties: _, ...rest } = value;
  const inside = Object.entries(rest).map(([key, one]): [string, Json] => [
    key,
    key === "example" || key === "default"
      ? one
      : inPlace(document, one, key === "items" ? depth + 1 : depth),
  ]);
  if (isObject(properties) && depth < MAX_DEPTH)
    inside.push([
      "properties",
      Object.fromEntries(
        Object.entries(properties).map(([name, one]) => [name, inPlace(document, one, depth + 1)]),
      ),
    ]);
  return Object.fromEntries(inside);
}

function atPointer(document: OpenApiDocument, pointer: string): Json {
  return pointer
    .replace(/^#\//, "")
    .split("/")
    .reduce<Json>((at, key) => (isObject(at) ? (at[key] ?? {}) : {}), document);
}
