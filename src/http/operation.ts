import { Kind, type StaticDecode, type TSchema, type TUnsafe, Type } from "@sinclair/typebox";
import type { AnyElysia, DocumentDecoration } from "elysia";
import { captureBody, jsonBodyDecoder, rawBody } from "./body.ts";
import { ApiError, type ErrorName, errorKinds } from "./errors.ts";
import { ALIAS_KEYWORD } from "./openapi-aliases.ts";
import { type DecodedQuery, decodeQuery, type QueryParams } from "./params.ts";
import { parseQueryString } from "./query-string.ts";
import type { RouteCache, RouteCacheHook } from "./route-cache.ts";

/** How a request proves who sent it; the names of the security schemes in the OpenAPI document. */
export type Security = "signedOperation" | "apiKey" | "signedEnvelope";

interface OperationText {
  /** Unique over the whole interface; generated clients name their methods after it. */
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  /** Errors beside those that follow from the parameters and the body. */
  readonly errors?: readonly ErrorName[];
  /** Set where the operation can answer 501. */
  readonly notImplemented?: NotImplemented;
  readonly security?: Security;
}

/** A 501 response: the condition, as a sentence for the document, and the `message` of the body. */
interface NotImplemented {
  readonly when: string;
  readonly message: string;
}

interface OperationSpec<Q extends QueryParams | undefined, B extends TSchema | undefined>
  extends OperationText {
  readonly query?: Q;
  /** JSON body. It is read within the limit of the path, checked against the schema, and handed on decoded. */
  readonly body?: B;
  /** The answer's schema, or schemas by status. It is documentation: nothing checks answers while they are served. */
  readonly response: TSchema | Readonly<Record<number, TSchema>>;
  /** Who may keep the response of a GET; nobody where it is left out. */
  readonly cache?: RouteCache | undefined;
  /** Schema of the error body, where the policy of the path gives it another shape than the usual one. */
  readonly errorResponse?: TSchema;
}

interface Transformed {
  readonly query?: unknown;
  readonly body?: unknown;
}

type Absent = Record<never, never>;

/** The hook object for Elysia's route methods; the handler's `query` and `body` get their types from it. */
export type OperationHook<
  Q extends QueryParams | undefined,
  B extends TSchema | undefined,
> = RouteCacheHook & {
  readonly detail: DocumentDecoration;
  readonly transform?: (context: { readonly request: Request }) => void;
} & (Q extends QueryParams ? { readonly query: TUnsafe<DecodedQuery<Q>> } : Absent) &
  (B extends TSchema
    ? { readonly body: TUnsafe<StaticDecode<B>>; readonly parse: typeof captureBody }
    : Absent);

/**
 * The documented form of something that is decoded before Elysia's own validation, which therefore lets everything
 * pass.
 */
function documentedOnly<T>(schema: Readonly<Record<string, unknown>>): TUnsafe<T> {
  return Type.Unsafe<T>({ ...schema, [Kind]: "Any" });
}

function querySchema<Q extends QueryParams>(params: Q): TUnsafe<DecodedQuery<Q>> {
  const entries = Object.entries(params).map(([name, param]) => [param.keys?.[0] ?? name, param] as const);
  return documentedOnly({
    properties: Object.fromEntries(entries.map(([name, param]) => [name, param.schema])),
    required: entries.filter(([, param]) => param.required).map(([name]) => name),
  });
}

const schemeHeaders: Readonly<Record<Security, readonly string[]>> = {
  signedOperation: ["signedFid", "signedOp", "signedAt", "signedNonce", "signedSignature"],
  apiKey: ["apiKey"],
  signedEnvelope: ["signedEnvelope"],
};

function isSchema(response: OperationSpec<undefined, undefined>["response"]): response is TSchema {
  return Kind in response;
}

function documentedResponses(spec: OperationSpec<QueryParams | undefined, TSchema | undefined>) {
  const { response, errorResponse, query, body, errors = [], security } = spec;
  const content = (schema: TSchema) => ({
    "application/json": { schema },
  });
  const byStatus: Readonly<Record<string, TSchema>> = isSchema(response) ? { 200: response } : response;
  const successes = Object.entries(byStatus).map(([status, schema]) => [
    status,
    { description: schema.description ?? "Success", content: content(schema) },
  ]);
  const names = new Set<ErrorName>(errors);
  if (query !== undefined || body !== undefined) names.add("badRequest");
  if (body !== undefined) names.add("payloadTooLarge");
  if (security !== undefined) names.add("unauthorized");
  names.add("internal");
  const failures = [...names].map((name) => [
    errorKinds[name].status,
    errorResponse === undefined
      ? { $ref: `#/components/responses/${name}` }
      : { description: errorKinds[name].message, content: { "application/json": { schema: errorResponse } } },
  ]);
  const { notImplemented } = spec;
  return {
    ...Object.fromEntries([...successes, ...failures]),
    ...(notImplemented === undefined ? {} : notImplementedResponse(notImplemented)),
  };
}

function notImplementedResponse({ when, message }: NotImplemented) {
  return {
    [errorKinds.notImplemented.status]: {
      description: when,
      content: {
        "application/json": { schema: { $ref: "#/components/schemas/Error" }, example: { message } },
      },
    },
  };
}

function documentation(
  spec: OperationSpec<QueryParams | undefined, TSchema | undefined>,
): DocumentDecoration {
  const { operationId, summary, description, tags, security } = spec;
  const detail = {
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [...tags],
    ...(security === undefined
      ? {}
      : { security: [Object.fromEntries(schemeHeaders[security].map((scheme) => [scheme, []]))] }),
    responses: documentedResponses(spec),
  };
  // Elysia types schemas after OpenAPI 3.0; the document is 3.1, whose schemas are JSON Schema, which TypeBox writes.
  return detail as unknown as DocumentDecoration;
}

/**
 * Describes a route once, for the router and for the OpenAPI document.
 *
 * ```ts
 * new Elysia().get("/user", ({ query }) => read.user(query.fid), operation({
 *   operationId: "getUser", summary: "One user", tags: ["Users"],
 *   query: { fid: fid() }, response: UserResponse, errors: ["notFound"],
 * }))
 * ```
 */
export function operation<
  const Q extends QueryParams | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(spec: OperationSpec<Q, B>): OperationHook<Q, B> {
  const { query, body, cache } = spec;
  const decodeBody = body === undefined ? undefined : jsonBodyDecoder(body);

  // Elysia merges what this returns into the handler's context. It runs after the hooks of the group, so that a
  // signature is judged before what it covers is parsed.
  const transform = ({ request }: { readonly request: Request }): Transformed => {
    const decoded: { query?: unknown; body?: unknown } = {};
    if (query !== undefined) decoded.query = decodeQuery(query, parseQueryString(request.url));
    if (decodeBody !== undefined) decoded.body = decodeBody(rawBody(request));
    return decoded;
  };

  const hook = {
    detail: documentation(spec),
    ...(cache === undefined ? {} : { cache }),
    ...(query === undefined && body === undefined ? {} : { transform }),
    ...(query === undefined ? {} : { query: querySchema(query) }),
    ...(body === undefined ? {} : { body: documentedOnly(body), parse: captureBody }),
  };
  return hook as unknown as OperationHook<Q, B>;
}

/**
 * Marks a route as an alias: it behaves as the route at `canonicalPath` does, both relative to their prefix. The OpenAPI
 * document lists the canonical path only, and names its aliases there.
 */
export function aliasOf<H extends { readonly detail: DocumentDecoration }>(
  canonicalPath: string,
  hook: H,
): H {
  return { ...hook, detail: { ...hook.detail, [ALIAS_KEYWORD]: canonicalPath } };
}

export interface UnimplementedRoute
  extends Pick<OperationText, "operationId" | "summary" | "description" | "tags"> {
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** The path that this one is an alias of. */
  readonly aliasOf?: string;
}

/**
 * Adds routes that exist and answer 501 to every request. No hook of theirs reads the body, so that the response never
 * waits for it.
 * @param when why, as a sentence for the OpenAPI document
 */
export function addUnimplemented<A extends AnyElysia>(
  app: A,
  routes: readonly UnimplementedRoute[],
  when: string,
): A {
  const responses = notImplementedResponse({ when, message: errorKinds.notImplemented.message });
  for (const { method, path, aliasOf: canonicalPath, ...text } of routes) {
    const detail = {
      ...text,
      tags: [...text.tags],
      responses,
      ...(canonicalPath === undefined ? {} : { [ALIAS_KEYWORD]: canonicalPath }),
    } as unknown as DocumentDecoration;
    const refuse = () => {
      throw new ApiError("notImplemented");
    };
    app.route(method, path, refuse, { detail });
  }
  return app;
}
