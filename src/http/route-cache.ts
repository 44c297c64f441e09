/**
 * Who may keep the response of a GET. A route that says nothing is `no-store`.
 *
 * - `revalidate`: clients and proxies, with a weak ETag, and they must ask each time.
 * - `shared`: beside them this process, which then sends the same bytes to everybody who requests the same URL until the
 *   next commit to the index or the next second. Only for a response that follows from the URL, the index and the second
 *   alone: never where the handler reads the state database, a header, or anything random.
 */
export type RouteCache = "shared" | "revalidate";

/** What a hook of `operation` carries beside what Elysia knows; Elysia keeps it on the route. */
export interface RouteCacheHook {
  readonly cache?: RouteCache;
}

/** The part of an Elysia route that the declaration is read from. */
interface DeclaredRoute {
  readonly method: string;
  readonly path: string;
  readonly hooks: RouteCacheHook;
}

/** The declaration of each GET route, by its template; undefined for one without, and for what is no route. */
export type CacheOfRoute = (template: string) => RouteCache | undefined;

/** Collects what the routes of an app declare. */
export function createCacheOfRoute(routes: readonly DeclaredRoute[]): CacheOfRoute {
  const declared = new Map<string, RouteCache>();
  for (const { method, path, hooks } of routes) {
    if (method === "GET" && hooks.cache !== undefined) declared.set(path, hooks.cache);
  }
  return (template) => declared.get(template);
}
