/**
 * Which caches may store the response of a GET. Responses of routes without a declaration are `no-store`.
 *
 * - `revalidate`: clients and proxies, with a weak ETag; they must revalidate at each use.
 * - `shared`: also this process, which sends the same bytes to every client that requests the same URL until the next
 *   commit to the index or the next second. Only for a response that depends on nothing but the URL, the index and
 *   the second: never if the handler reads the state database, a header, or random data.
 * - `sharedWithoutKey`: as `shared`, but with an API key the response is its owner's, and `no-store`.
 */
export type RouteCache = "shared" | "sharedWithoutKey" | "revalidate";

/** The field that `operation` adds to Elysia's hook object. Elysia retains it on the route. */
export interface RouteCacheHook {
  readonly cache?: RouteCache;
}

/** The part of an Elysia route that contains the declaration. */
interface DeclaredRoute {
  readonly method: string;
  readonly path: string;
  readonly hooks: RouteCacheHook;
}

/** Returns the declaration of a GET route by its template; undefined if the route has none or does not exist. */
export type CacheOfRoute = (template: string) => RouteCache | undefined;

/** Collects the cache declarations of an app's routes. */
export function createCacheOfRoute(routes: readonly DeclaredRoute[]): CacheOfRoute {
  const declared = new Map<string, RouteCache>();
  for (const { method, path, hooks } of routes) {
    if (method === "GET" && hooks.cache !== undefined) declared.set(path, hooks.cache);
  }
  return (template) => declared.get(template);
}
