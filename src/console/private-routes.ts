import { Elysia } from "elysia";
import { ApiError } from "../http/errors.ts";
import type { OwnOrigin } from "../http/own-origin.ts";

/**
 * Creates a group of routes that only the node's own pages call, as in `privateRoutes("/console/op", …).get("/workers", …)`.
 * Before a handler runs, a request to a foreign `Host` or from a foreign `Origin` is refused with 403. No response has CORS
 * headers (`createPolicyLookup`), and none is stored by a cache.
 */
export function privateRoutes<Prefix extends `/console/${string}`>(prefix: Prefix, own: OwnOrigin) {
  return new Elysia({ prefix })
    .onTransform(({ request }) => {
      if (!own.isOwnHost(request.headers.get("host")))
        throw new ApiError("forbidden", "this host name is not one of the node's own");
      if (!own.isOwnOrigin(request)) throw new ApiError("forbidden", "other origins may not call this");
    })
    .onAfterHandle(({ responseValue }) => {
      if (responseValue instanceof Response) responseValue.headers.set("cache-control", "no-store");
    });
}
