import type { ShareName } from "../admission/budgets.ts";
import type { Caller, Scope } from "./caller.ts";
import { askedOf, flat, type Price } from "./limits/prices.ts";
import type { QueryParams } from "./request/params.ts";
import type { TaggedBody } from "./response/content-coding.ts";

/**
 * Which caches may store the response of a GET. Responses of routes without a declaration are `no-store`.
 *
 * - `revalidate`: clients and proxies, with a weak ETag; they must revalidate at each use.
 * - `shared`: also this process, which sends the same bytes to every client that requests the same URL until the next commit to the index
 *   or the next second. Only for a response that depends on nothing but the URL, the index, the second, and data that counts its changes
 *   for the cache: never if the handler reads the state database, a header, or random data.
 * - `sharedWithoutKey`: like `shared`, but with an API key the response belongs to the key's owner and is `no-store`.
 * - `sharedWithoutRules`: like `shared`, but with an API key whose owner has bans or private mutes, the response belongs to that owner
 *   and is `no-store`.
 * - `minutes`: clients and proxies, for ten minutes, with a weak ETag.
 */
export type RouteCache = "shared" | "sharedWithoutKey" | "sharedWithoutRules" | "revalidate" | "minutes";

/**
 * Returns the response to a GET that a route has ready, by its URL, so that the router is not called; undefined if the handler has to
 * build it. A body with an ETag is from a route whose `cache` is `minutes`; any other is `no-store`.
 */
export type ReadyBody = (url: string) => TaggedBody | Uint8Array | undefined;

/** Reports whether the response belongs to its caller only. */
export function isOwnResponse(cache: RouteCache | undefined, caller: Caller): boolean {
  if (caller.kind !== "apiKey") return false;
  return cache === "sharedWithoutKey" || (cache === "sharedWithoutRules" && caller.rulesVersion > 0);
}

/** The field that `operation` adds to Elysia's hook object. Elysia retains it on the route. */
export interface RouteCacheHook {
  readonly cache?: RouteCache;
}

/** Returns the declaration of a GET route by its template; undefined if the route has none or does not exist. */
export type CacheOfRoute = (template: string) => RouteCache | undefined;

/** Collects the cache declarations of an app's routes. */
export function createCacheOfRoute(
  routes: readonly { readonly method: string; readonly path: string; readonly hooks: RouteCacheHook }[],
): CacheOfRoute {
  const declared = new Map<string, RouteCache>();
  for (const { method, path, hooks } of routes) {
    if (method === "GET" && hooks.cache !== undefined) declared.set(path, hooks.cache);
  }
  return (template) => declared.get(template);
}

/**
 * Which credential a route requires.
 *
 * - `open`: none, or one that the route verifies itself.
 * - `openRead`: none, even if the operator has disabled anonymous reads; it counts as a read.
 * - `read`: an API key is optional in the compat dialect, and required if the operator has disabled anonymous reads.
 * - `anonymousOrKey`: none while anonymous reads are allowed; otherwise an API key with the scope.
 * - `key`: an API key with the scope.
 * - `keyUnlessRead`: an API key with the scope, except for requests whose query makes them a read.
 * - `signatureOrKey`: a signature of the owner or, in the compat dialect, an API key with the scope.
 * - `bearer`: an API key with the scope `read` as `Authorization: Bearer`, or none while anonymous reads are allowed.
 * - `sendSecretOrKey`: a send secret of a mini app, or an API key with the scope.
 */
export type Access =
  | { readonly kind: "open" | "openRead" | "read" | "bearer" }
  | { readonly kind: "anonymousOrKey" | "key" | "signatureOrKey" | "sendSecretOrKey"; readonly scope: Scope }
  | {
      readonly kind: "keyUnlessRead";
      readonly scope: Scope;
      readonly isRead: (query: URLSearchParams) => boolean;
    };

export const OPEN: Access = { kind: "open" };
export const OPEN_READ: Access = { kind: "openRead" };
export const READ: Access = { kind: "read" };

/** Declares that a route requires an API key with the scope. */
export const requireKey = (scope: Scope): Access => ({ kind: "key", scope });

/** The fields that `operation` adds to Elysia's hook object. Elysia retains them on the route. */
export interface RouteTermsHook {
  readonly access?: Access;
  readonly cache?: RouteCache | undefined;
  readonly share?: ShareName | undefined;
  readonly price?: Price | undefined;
  readonly ready?: ReadyBody | undefined;
  /** The parameters of the query, which determine its price. */
  readonly queryParams?: QueryParams;
}

/** What the edge must know about a route before it is called. */
export interface RouteTerms {
  /** Template of the whole path; undefined for a path without a route. */
  readonly template: string | undefined;
  readonly access: Access;
  /** In units, by the URL of a request. */
  readonly price: (url: string) => number;
  /** The limit under which a request without an API key is counted, by its client's address; undefined for none. */
  readonly share: ShareName | undefined;
  /** Determines whether the response to an API key belongs to its owner. */
  readonly cache: RouteCache | undefined;
  readonly ready?: ReadyBody | undefined;
}

/** The part of an Elysia route that contains the declaration. */
interface DeclaredRoute {
  readonly method: string;
  readonly path: string;
  readonly hooks: RouteTermsHook;
}

/** Returns the terms of a canonical path; a trailing slash makes no difference. */
export type TermsOf = (method: string, path: string) => RouteTerms;

/** For a request that writes one message or changes a list. */
const WRITE_UNITS = 20;
const WRITING_SCOPES: ReadonlySet<Scope> = new Set(["write", "moderate"]);

/** The terms of paths without a route. A client without read access learns nothing about them. */
const UNKNOWN: RouteTerms = {
  template: undefined,
  access: READ,
  price: () => 1,
  share: undefined,
  cache: undefined,
};

/**
 * Collects the terms of an app's routes. A GET without a declaration is a read; other methods without one are open, because they verify
 * their own credential or are refused with 501. The default price of a request is 1 unit, that of a write 20.
 *
 * @param routes routes with templates whose parameters are whole segments, such as `/frame/webhook/:app_id`.
 */
export function createTermsOf(routes: readonly DeclaredRoute[]): TermsOf {
  const exact = new Map<string, Map<string, RouteTerms>>();
  const patterns: { readonly method: string; readonly pattern: RegExp; readonly terms: RouteTerms }[] = [];
  for (const { method, path, hooks } of routes) {
    const access = hooks.access ?? (method === "GET" ? READ : OPEN);
    const isWrite = access.kind === "key" && WRITING_SCOPES.has(access.scope) && method !== "GET";
    const price = hooks.price ?? flat(isWrite ? WRITE_UNITS : 1);
    const asked = askedOf(hooks.queryParams ?? {});
    const terms = {
      template: path,
      access,
      price: (url: string) => price(asked(url)),
      share: hooks.share,
      cache: hooks.cache,
      ready: method === "GET" ? hooks.ready : undefined,
    };
    if (path.includes(":")) {
      const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`);
      patterns.push({ method, pattern, terms });
      continue;
    }
    const ofPath = exact.get(path) ?? new Map<string, RouteTerms>();
    exact.set(path, ofPath.set(method, terms));
  }

  return (requestMethod, requestPath) => {
    const method = requestMethod === "HEAD" ? "GET" : requestMethod;
    const path = requestPath.endsWith("/") ? requestPath.slice(0, -1) : requestPath;
    return (
      exact.get(path)?.get(method) ??
      patterns.find((one) => one.method === method && one.pattern.test(path))?.terms ??
      UNKNOWN
    );
  };
}

/**
 * Collects the methods of an app's routes outside of `/v2/`, where a wrong method is 405. Below `/v2/`, a path without the method is an
 * unknown route.
 *
 * @returns a function that returns the methods of a path, as the text of `allow`, if the request's method is not among them.
 */
export function createMethodCheck(
  routes: readonly Pick<DeclaredRoute, "method" | "path">[],
): (method: string, path: string) => string | undefined {
  const outside = routes.filter(({ method, path }) => !path.startsWith("/v2/") && method !== "ALL");
  const exact = new Map<string, Set<string>>();
  const patterns = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  for (const { method, path } of outside) {
    const own = method === "GET" ? ["GET", "HEAD"] : [method];
    if (!/[:*]/.test(path)) {
      exact.set(path, new Set([...(exact.get(path) ?? []), ...own]));
      continue;
    }
    const source = path.replaceAll(/:\w+/g, "[^/]+").replace("*", ".*");
    const known = patterns.get(path) ?? { pattern: new RegExp(`^${source}$`), methods: new Set<string>() };
    for (const one of own) known.methods.add(one);
    patterns.set(path, known);
  }
  /** Several patterns may match, such as all paths below a folder and one of these paths. */
  const methodsOfPatterns = (path: string): ReadonlySet<string> => {
    const found = [...patterns.values()].filter(({ pattern }) => pattern.test(path));
    return new Set(found.flatMap((one) => [...one.methods]));
  };
  return (method, requestPath) => {
    if (requestPath.startsWith("/v2/")) return undefined;
    const path = requestPath.length > 1 && requestPath.endsWith("/") ? requestPath.slice(0, -1) : requestPath;
    const methods = exact.get(path) ?? methodsOfPatterns(path);
    return methods.size === 0 || methods.has(method) ? undefined : [...methods].join(", ");
  };
}
