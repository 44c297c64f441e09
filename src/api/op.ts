import { Kind, type StaticDecode, type TSchema, Type } from "@sinclair/typebox";
import { type AnyElysia, type DocumentDecoration, Elysia } from "elysia";
import type { ShareName } from "../admission/budgets.ts";
import type { SignatureRule } from "../auth/signed-routes.ts";
import type { ErrorName } from "../http/errors.ts";
import type { Price } from "../http/limits/prices.ts";
import type { CredentialsContext } from "../http/request/body.ts";
import type { DecodedQuery, QueryParams } from "../http/request/params.ts";
import { respondsLater } from "../http/response/response-body.ts";
import { aliasOf, type NotImplemented, operation, refused, type Security } from "../http/route/operation.ts";
import type { Access, ReadyBody, RouteCache } from "../http/route-terms.ts";
import { inTurns } from "../read/leave-turn.ts";
import type { Dialect, OwnerRulesOf, ResponseName, Viewer } from "./deps.ts";

/**
 * Where an operation is served: under the own prefix, those of the hosted API, `/v1` of a hub, `/quick-auth`, `/rpc`, `/v2/stp` or
 * `/v2/onchain`.
 */
export type Surface = "native" | "compat" | "hub" | "quickAuth" | "relay" | "rpc" | "stp" | "onchain";

/** The surfaces of an operation that does not declare any. */
const BOTH_DIALECTS: readonly Surface[] = ["native", "compat"];

export type Method = SignatureRule["method"];

/** An operation of the API. Its routes, their documentation, prices, cache classes and credentials follow from it. */
export interface Operation<D, Id extends string = string> {
  /** Unique within a surface; clients name their methods after it. */
  readonly id: Id;
  readonly method: Method;
  /** Relative to the prefix of the surface. */
  readonly path: string;
  readonly surfaces: readonly Surface[];
  readonly aliasesOn: (surface: Surface) => readonly string[];
  /** How a request must be signed; undefined if no signature is required. */
  readonly rule?: SignatureRule;
  /** Default: 1 unit; 20 for a write. */
  readonly price?: Price | undefined;
  /** Creates the handler and the hooks of the routes. */
  readonly route: (deps: D) => { readonly handler: (context: never) => unknown; readonly hook: RouteHook };
}

type RouteHook = { readonly detail: DocumentDecoration };

/** The parts of Elysia's context that handlers use. */
export interface Call {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  /** Template of the whole path, for example `/v2/farcaster/cast`. */
  readonly route: string;
  readonly server: { timeout(request: Request, seconds: number): void } | null;
  readonly set: { status?: number | string; readonly headers: Record<string, string | number> };
}

/** A query as decoded by its parameters. Dialects may add the viewer. */
type Query<Q extends QueryParams> = DecodedQuery<Q> & Partial<Viewer>;
type Body<B> = B extends TSchema ? StaticDecode<B> : undefined;

/** The common part of all declarations of operations. */
export interface Declaration<D, Id extends string, Q extends QueryParams> {
  readonly id: Id;
  /** Default: both dialects. */
  readonly surface?: Surface | undefined;
  readonly path: string;
  /** More paths with the same behavior. */
  readonly aliases?: readonly string[] | Partial<Readonly<Record<Surface, readonly string[]>>>;
  readonly tag?: string;
  readonly summary: string;
  readonly description?: string | undefined;
  /** Parameters, or a function that creates them from the dependencies. */
  readonly query?: Q | ((deps: D) => Q);
  /** Errors in addition to those that follow from the parameters, the body and the credential. */
  readonly errors?: readonly ErrorName[];
  /** Set if the operation can respond with 501. */
  readonly notImplemented?: NotImplemented;
}

export interface OpSpec<D, Id extends string, Q extends QueryParams, B extends TSchema | undefined>
  extends Declaration<D, Id, Q> {
  /** Default: GET. */
  readonly method?: Method;
  readonly body?: B;
  /** A response by its name in the dialect, a schema, or schemas by status. */
  readonly response: ResponseName | TSchema | Readonly<Record<number, TSchema>>;
  /** The shape of an error, if the surface does not use the usual one. */
  readonly errorResponse?: TSchema;
  readonly cache?: RouteCache | ((deps: D) => RouteCache | undefined) | undefined;
  /** Creates a function that responds without the handler if it can. */
  readonly ready?: (deps: D) => ReadyBody;
  readonly access?: Access;
  readonly security?: Security;
  readonly share?: ShareName;
  /** Default: 1 unit; 20 for a write. */
  readonly price?: Price;
  /** Whether the handler decodes query and body itself, after its first checks. */
  readonly isRaw?: boolean;
  /** Replaces the hook that reads the body. */
  readonly parse?: (deps: D) => (context: CredentialsContext) => Promise<Uint8Array>;
  /** Changes the documentation. */
  readonly document?: (detail: DocumentDecoration) => DocumentDecoration;
  readonly run: (deps: D, call: Call & { readonly query: Query<Q>; readonly body: Body<B> }) => unknown;
}

type ReadSpec<D, Id extends string, Q extends QueryParams> = Omit<
  OpSpec<D, Id, Q, undefined>,
  "method" | "body" | "parse" | "isRaw" | "access" | "share"
>;

/** The dependencies that the constructors themselves use. A surface without a dialect cannot refer to responses by name. */
interface OwnDeps {
  readonly dialect?: Pick<Dialect, "schemas" | "adapt">;
  readonly ownerRulesOf?: OwnerRulesOf;
  readonly reads?: object;
}

export function surfacesOf<D, Id extends string>({
  id,
  path,
  surface,
  aliases = [],
}: Declaration<D, Id, never>) {
  return {
    id,
    path,
    surfaces: surface === undefined ? BOTH_DIALECTS : [surface],
    aliasesOn: (on: Surface): readonly string[] =>
      Array.isArray(aliases) ? aliases : ((aliases as Partial<Record<Surface, readonly string[]>>)[on] ?? []),
  };
}

/** Returns the parameters of a query in a dialect; undefined if there are none. */
export function queryOf<D extends OwnDeps, Q extends QueryParams>(
  query: Q | ((deps: D) => Q) | undefined,
  deps: D,
  isOfDialect: boolean,
): QueryParams | undefined {
  const own: QueryParams | undefined = typeof query === "function" ? query(deps) : query;
  return own !== undefined && isOfDialect && deps.dialect ? deps.dialect.adapt(own) : own;
}

function responseOf(
  response: ResponseName | TSchema | Readonly<Record<number, TSchema>>,
  { dialect }: OwnDeps,
): TSchema | Readonly<Record<number, TSchema>> {
  if (typeof response !== "string") return response;
  if (!dialect) throw new Error(`no dialect for the response ${response}`);
  return dialect.schemas[response];
}

/**
 * Returns the constructors of operations with these dependencies.
 * @param defaults declarations that operations may override
 */
export function operationsOf<D extends OwnDeps>(
  defaults: Partial<
    Pick<OpSpec<D, string, never, undefined>, "surface" | "tag" | "price" | "errors" | "errorResponse">
  > = {},
) {
  /** Declares an operation that is open or requires an API key. */
  function op<
    const Id extends string,
    const Q extends QueryParams = Record<never, never>,
    B extends TSchema | undefined = undefined,
  >(spec: OpSpec<D, Id, Q, B>): Operation<D, Id> {
    const declared = { ...defaults, ...spec };
    const {
      id,
      method = "GET",
      tag = "",
      response,
      cache,
      ready,
      query,
      parse,
      document,
      run,
      ...rest
    } = declared;
    return {
      ...surfacesOf(declared as Declaration<D, Id, never>),
      method,
      price: rest.price,
      route(deps) {
        const parameters = queryOf(query, deps, typeof response === "string");
        const ownerRulesOf = parameters && VIEWER in parameters ? deps.ownerRulesOf : undefined;
        const kept = typeof cache === "function" ? cache(deps) : cache;
        const { detail, ...hook } = operation<QueryParams | undefined, TSchema | undefined>({
          ...rest,
          operationId: id,
          tags: [tag],
          query: parameters,
          response: responseOf(response, deps),
          cache: ownerRulesOf && kept === "shared" ? "sharedWithoutRules" : kept,
          ready: ready?.(deps),
        });
        return {
          handler: handlerOf(
            ownerRulesOf
              ? ruled(run, deps, ownerRulesOf)
              : (call: Parameters<typeof run>[1]) => run(deps, call),
            query !== undefined,
            rest.body !== undefined,
          ),
          hook: {
            ...hook,
            ...(parse === undefined ? {} : { parse: parse(deps) }),
            detail: document === undefined ? detail : document(detail),
          },
        };
      },
    };
  }

  /** Declares a read. Unless it has another `cache`, its response depends only on the query, the index and the second. */
  function read<const Id extends string, const Q extends QueryParams = Record<never, never>>(
    spec: ReadSpec<D, Id, Q>,
  ): Operation<D, Id> {
    const run = inTurns(spec.run, ({ request }) => respondsLater(request));
    return op<Id, Q>({ cache: "shared", ...spec, run });
  }

  return { op, read };
}

const VIEWER = "viewer_fid" satisfies keyof Viewer;

/** Runs a read with the lists of the owner of the request's API key. */
function ruled<D extends OwnDeps, C extends { readonly request: Request; readonly query: unknown }>(
  run: (deps: D, call: C) => unknown,
  deps: D,
  ownerRulesOf: OwnerRulesOf,
): (call: C) => unknown {
  return (call) => {
    const rules = ownerRulesOf(call.request, call.query as Partial<Viewer>);
    return rules
      ? rules.then((owner) => run({ ...deps, reads: { ...deps.reads, owner } }, call))
      : run(deps, call);
  };
}

/** Elysia parses the source of a handler for the names of the context that it uses, and prepares only those. */
function handlerOf<C extends Call & { readonly query: unknown; readonly body: unknown }>(
  run: (call: C) => unknown,
  hasQuery: boolean,
  hasBody: boolean,
): (context: C) => unknown {
  if (hasBody)
    return ({ request, query, body, params, route, server, set }) =>
      run({ request, query, body, params, route, server, set } as C);
  if (hasQuery)
    return ({ request, query, params, route, server, set }) =>
      run({ request, query, params, route, server, set } as C);
  return ({ request, params, route, server, set }) =>
    run({ request, query: {}, params, route, server, set } as unknown as C);
}

/** Returns a schema that is documented but accepts every JSON value. */
export function documentedOnly(schema: TSchema): TSchema {
  return Type.Unsafe<unknown>({ ...schema, [Kind]: "Any" });
}

/** Declares an operation that refuses every request. */
export function unserved(
  spec: Pick<
    Declaration<unknown, string, never>,
    "id" | "surface" | "path" | "aliases" | "tag" | "summary"
  > & {
    readonly method: Method;
    /** Default: 501. */
    readonly kind?: "notImplemented" | "gone" | undefined;
    /** The reason, as a sentence for the document. */
    readonly when: string;
    /** The error's text. Default: the usual one. */
    readonly message?: string | undefined;
  },
): Operation<unknown> {
  const { id, method, tag, summary, ...reason } = spec;
  return {
    ...surfacesOf(spec),
    method,
    route: () => refused({ operationId: id, summary, tags: [tag ?? ""] }, reason),
  };
}

/** Creates the routes of a surface's operations, with paths relative to its prefix. */
export function pluginOf<D>(surface: Surface, operations: readonly Operation<D>[], deps: D): AnyElysia {
  const plugin: AnyElysia = new Elysia({ name: surface });
  for (const { surfaces, method, path, aliasesOn, route } of operations) {
    if (!surfaces.includes(surface)) continue;
    const { handler, hook } = route(deps);
    plugin.route(method, path, handler as never, hook);
    for (const alias of aliasesOn(surface))
      plugin.route(method, alias, handler as never, aliasOf(path, hook));
  }
  return plugin;
}
