import { Kind, type StaticDecode, type TSchema, type TUnsafe } from "@sinclair/typebox";
import type { DocumentDecoration } from "elysia";
import type { ShareName } from "../../admission/budgets.ts";
import { ApiError, type ErrorName, errorKinds } from "../errors.ts";
import type { Price } from "../limits/prices.ts";
import { ALIAS_KEYWORD } from "../openapi/aliases.ts";
import { captureBody, jsonBodyDecoder, rawBody } from "../request/body.ts";
import { type DecodedQuery, decodeQuery, type QueryParams } from "../request/params.ts";
import { parseQueryString } from "../request/query-string.ts";
import type { Access, ReadyBody, RouteCache, RouteCacheHook, RouteTermsHook } from "../route-terms.ts";

/** How a request is authenticated. The values select security schemes of the OpenAPI document. */
export type Security = "signedOperation" | "signedOperationOrSession" | "apiKey" | "signedEnvelope";

interface OperationText {
  /** Unique in the whole interface; generated clients name their methods after it. */
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  /** Errors in addition to those that follow from the parameters and the body. */
  readonly errors?: readonly ErrorName[];
  /** Set if the operation can respond with 501. */
  readonly notImplemented?: NotImplemented;
  readonly security?: Security;
}

/** A 501 response: the condition, as a sentence for the document, and the `message` of the body. */
export interface NotImplemented {
  readonly when: string;
  readonly message: string;
}

interface OperationSpec<Q extends QueryParams | undefined, B extends TSchema | undefined>
  extends OperationText {
  readonly query?: Q;
  /**
   * JSON body. It is read within the limit of the path, validated against the schema, and passed to the handler
   * decoded.
   */
  readonly body?: B;
  /**
   * Schema of the response, or schemas by status. It is documentation: responses are not validated when they are
   * sent.
   */
  readonly response: TSchema | Readonly<Record<number, TSchema>>;
  /** Which caches may store the response of a GET; none if omitted. */
  readonly cache?: RouteCache | undefined;
  readonly ready?: ReadyBody | undefined;
  /** The credential that the edge asks for. Default: a GET is a read, other methods are open. */
  readonly access?: Access | undefined;
  /** The limit under which a request is counted, by its client's address. */
  readonly share?: ShareName | undefined;
  /** What a request costs. Default: `createTermsOf` decides. */
  readonly price?: Price | undefined;
  /** Query and body are only documented: the handler decodes them, after its first checks. */
  readonly isRaw?: boolean | undefined;
  /** Schema of the error body, if the policy of the path uses another shape than the usual one. */
  readonly errorResponse?: TSchema | undefined;
}

interface Transformed {
  readonly query?: unknown;
  readonly body?: unknown;
}

type Absent = Record<never, never>;

/**
 * The hook object for Elysia's route methods. The types of the handler's `query` and `body` follow from it. At run time
 * it has neither schema: `transform` decodes and validates both, and `detail` documents them.
 */
export type OperationHook<Q extends QueryParams | undefined, B extends TSchema | undefined> = RouteCacheHook &
  RouteTermsHook & {
    readonly detail: DocumentDecoration;
    readonly transform?: (context: { readonly request: Request }) => void;
  } & (Q extends QueryParams ? { readonly query: TUnsafe<DecodedQuery<Q>> } : Absent) &
  (B extends TSchema
    ? { readonly body: TUnsafe<StaticDecode<B>>; readonly parse: typeof captureBody }
    : Absent);

/** Returns the parameters for the document. Lists are comma-separated. */
function documentedParameters(params: QueryParams): object[] {
  return Object.entries(params).map(([name, { keys, schema, required }]) => {
    const { description, examples, ...rest } = schema;
    const [example] = Array.isArray(examples) ? examples : [];
    return {
      name: keys?.[0] ?? name,
      in: "query",
      required,
      ...(description === undefined ? {} : { description }),
      ...(example === undefined ? {} : { example }),
      schema: rest,
      ...(schema.type === "array" ? { style: "form", explode: false } : {}),
    };
  });
}

const SIGNED = ["signedFid", "signedOp", "signedAt", "signedNonce"];
/** The schemes of each alternative, of which a request needs one. */
const schemeHeaders: Readonly<Record<Security, readonly (readonly string[])[]>> = {
  signedOperation: [[...SIGNED, "signedSignature"]],
  signedOperationOrSession: [
    [...SIGNED, "signedSignature"],
    ["session", ...SIGNED, "sessionSignature"],
  ],
  apiKey: [["apiKey"]],
  signedEnvelope: [["signedEnvelope"]],
};

function isSchema(response: OperationSpec<undefined, undefined>["response"]): response is TSchema {
  return Kind in response;
}

/** For a body that is too large, arrives too slowly, or does not fit into the budget. */
const BODY_ERRORS = ["payloadTooLarge", "requestTimeout", "tooManyRequests", "unavailable"] as const;

const content = (schema: TSchema) => ({ "application/json": { schema } });

function documentedResponses(spec: OperationSpec<QueryParams | undefined, TSchema | undefined>) {
  const { response, errorResponse, query, body, errors = [], security } = spec;
  const byStatus: Readonly<Record<string, TSchema>> = isSchema(response) ? { 200: response } : response;
  const successes = Object.entries(byStatus).map(([status, schema]) => [
    status,
    { description: schema.description ?? "Success", content: content(schema) },
  ]);
  const names = new Set<ErrorName>(errors);
  if (query !== undefined || body !== undefined) names.add("badRequest");
  if (body !== undefined) for (const name of BODY_ERRORS) names.add(name);
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
    ...(notImplemented === undefined ? {} : refusalResponse("notImplemented", notImplemented)),
  };
}

function refusalResponse(kind: ErrorName, { when, message }: NotImplemented) {
  return {
    [errorKinds[kind].status]: {
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
  const { operationId, summary, description, tags, security, query, body } = spec;
  const detail = {
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [...tags],
    ...(security === undefined
      ? {}
      : {
          security: schemeHeaders[security].map((schemes) =>
            Object.fromEntries(schemes.map((scheme) => [scheme, []])),
          ),
        }),
    ...(query === undefined ? {} : { parameters: documentedParameters(query) }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: content(body) } }),
    responses: documentedResponses(spec),
  };
  // Elysia's types follow OpenAPI 3.0; the document is 3.1, whose schemas are JSON Schema, as TypeBox writes them.
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
  const { query, body, cache, ready, access, share, price, isRaw = false } = spec;
  const decodeBody = body === undefined ? undefined : jsonBodyDecoder(body);

  // Elysia merges the returned object into the handler's context. The hook runs after the hooks of the group, so that
  // a signature is verified before the content that it covers is parsed.
  const transform = ({ request }: { readonly request: Request }): Transformed => {
    const decoded: { query?: unknown; body?: unknown } = {};
    if (query !== undefined) decoded.query = decodeQuery(query, parseQueryString(request.url));
    if (decodeBody !== undefined) decoded.body = decodeBody(rawBody(request));
    return decoded;
  };

  const hook = {
    detail: documentation(spec),
    ...(cache === undefined ? {} : { cache }),
    ...(ready === undefined ? {} : { ready }),
    ...(access === undefined ? {} : { access }),
    ...(share === undefined ? {} : { share }),
    ...(price === undefined ? {} : { price }),
    ...(query === undefined ? {} : { queryParams: query }),
    ...(isRaw || (query === undefined && body === undefined) ? {} : { transform }),
    ...(body === undefined ? {} : { parse: captureBody }),
  };
  return hook as unknown as OperationHook<Q, B>;
}

/**
 * Marks a route as an alias of the route at `canonicalPath`, which behaves the same. Both paths are relative to their
 * prefix. The OpenAPI document lists only the canonical path and names its aliases there.
 */
export function aliasOf<H extends { readonly detail: DocumentDecoration }>(
  canonicalPath: string,
  hook: H,
): H {
  return { ...hook, detail: { ...hook.detail, [ALIAS_KEYWORD]: canonicalPath } };
}

/**
 * Declares a route that refuses every request: with 501 if this service does not support it, with 410 if the path has a successor.
 *
 * @param when the reason, as a sentence for the OpenAPI document
 * @param message the error's text. Default: the usual one
 */
export function refused(
  text: Pick<OperationText, "operationId" | "summary" | "description" | "tags">,
  {
    kind = "notImplemented",
    when,
    message = errorKinds[kind].message,
  }: {
    readonly kind?: "notImplemented" | "gone" | undefined;
    readonly when: string;
    readonly message?: string | undefined;
  },
): { readonly handler: () => never; readonly hook: { readonly detail: DocumentDecoration } } {
  const responses = refusalResponse(kind, { when, message });
  return {
    handler: () => {
      throw new ApiError(kind, message);
    },
    hook: { detail: { ...text, tags: [...text.tags], responses } as unknown as DocumentDecoration },
  };
}
