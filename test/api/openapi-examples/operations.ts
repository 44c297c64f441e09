import { isObject, type Json, type JsonObject } from "../../../src/http/openapi/document.ts";
import type { OperationExample } from "../../../src/http/openapi/examples.ts";
import type { TestApi } from "../../support/api.ts";

export type DialectName = "native" | "compat";

/** An operation of the document, under one of the two prefixes. */
export interface DocumentedOperation {
  readonly dialect: DialectName;
  /** The id of the route, without the name of a compat prefix. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: JsonObject;
}

const PREFIX: Readonly<Record<DialectName, string>> = { native: "/v2/svc", compat: "/v2/farcaster" };

export function documentedOperations(paths: JsonObject): DocumentedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) => {
    const dialect: DialectName = path.startsWith(`${PREFIX.compat}/`) ? "compat" : "native";
    return Object.entries(isObject(item) ? item : {}).flatMap(([method, operation]) => {
      if (!isObject(operation)) return [];
      const id = String(operation.operationId);
      return [{ dialect, id: dialect === "compat" ? withoutPrefix(id) : id, method, path, operation }];
    });
  });
}

function withoutPrefix(id: string): string {
  const rest = id.slice("farcaster".length);
  return rest.charAt(0).toLowerCase() + rest.slice(1);
}

/** Every path of an operation, relative to its prefix: the canonical one first. */
export function relativePathOf({ dialect, path }: Pick<DocumentedOperation, "dialect" | "path">): string {
  return path.startsWith(PREFIX[dialect]) ? path.slice(PREFIX[dialect].length) : path;
}

export interface ExampleRequest {
  readonly query?: JsonObject;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
  readonly pathParams?: Readonly<Record<string, string>>;
  /** The expected status. */
  readonly status?: number;
}

export interface ExampleResponse {
  readonly status: number;
  readonly body: Json;
}

/** Sends a request to a path of the document. @throws Error for another status than the expected one. */
export async function send(
  api: TestApi,
  { method, path }: Pick<DocumentedOperation, "method" | "path">,
  request: ExampleRequest,
): Promise<ExampleResponse> {
  const { body, headers = {}, pathParams = {}, status = 200 } = request;
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => pathParams[name] ?? "");
  const init = { method: method.toUpperCase(), headers };
  const response = await fetch(
    api.url + filled + queryText(request.query),
    body === undefined ? init : { ...init, body: JSON.stringify(body) },
  );
  const received = (await response.json()) as Json;
  if (response.status !== status)
    throw new Error(`${method} ${filled}: ${response.status} ${JSON.stringify(received)}`);
  return { status: response.status, body: received };
}

/** `?fid=3&ids=a,b`, or nothing. */
export function queryText(query: JsonObject = {}): string {
  const params = Object.entries(query).map(
    ([name, value]) => `${name}=${encodeURIComponent(Array.isArray(value) ? value.join() : String(value))}`,
  );
  return params.length === 0 ? "" : `?${params.join("&")}`;
}

const MAX_ITEMS = 2;

/** The example for the document, with shortened lists. */
export function exampleOf(
  { query, body }: Pick<ExampleRequest, "query" | "body">,
  ...responses: readonly ExampleResponse[]
): OperationExample {
  return {
    ...(query === undefined || Object.keys(query).length === 0 ? {} : { query }),
    ...(body === undefined ? {} : { body }),
    responses: Object.fromEntries(responses.map(({ status, body: shown }) => [status, shortened(shown)])),
  };
}

export function shortened(value: Json): Json {
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map(shortened);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shortened(item)]));
}
