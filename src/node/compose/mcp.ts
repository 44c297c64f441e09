import type { AnyElysia } from "elysia";
import { bearerOf } from "../../api-keys/gate.ts";
import { serviceNames } from "../../config/names.ts";
import type { Config } from "../../config/schema.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { createOwnOrigin } from "../../http/request/own-origin.ts";
import type { HttpServer } from "../../http/server.ts";
import { parseJson } from "../../lib/json.ts";
import type { NodeCall } from "../../mcp/node-call.ts";
import { mcpRoutes } from "../../mcp/routes.ts";

/** Of requests that a thread sends to itself. */
const OWN_ORIGIN = "http://127.0.0.1";

/**
 * Returns the route of `/mcp`. What its tools read goes through the node's own pipeline with the key and address of their client, so that
 * prices, limits and caches are those of any request.
 */
export function createMcp(deps: {
  readonly config: Pick<Config, "service" | "http" | "mcp">;
  readonly handle: HttpServer["handle"];
  readonly listeningUrl: () => string | undefined;
}): AnyElysia {
  const { config, handle, listeningUrl } = deps;
  const { name, basePath } = { name: config.service.name, ...serviceNames(config.service.name) };
  const callOf =
    (outer: Request): NodeCall =>
    async ({ path, query }) => {
      const key = bearerOf(outer.headers);
      const { address } = exchangeOf(outer).client();
      const request = new Request(`${OWN_ORIGIN}${path}?${new URLSearchParams(query)}`, {
        headers: key === undefined ? {} : { "x-api-key": key },
      });
      const response = await handle(request, {
        requestIP: () => ({ address, family: address.includes(":") ? "IPv6" : "IPv4", port: 0 }),
        timeout: () => undefined,
        upgrade: () => false,
      });
      return { status: response.status, body: parseJson(await response.text()) };
    };
  return mcpRoutes({
    own: createOwnOrigin({ publicUrl: config.service.public_url, listenHost: config.http.host }),
    load: async () => {
      const { createMcpEndpoint } = await import("../../mcp/endpoint.ts");
      const origin = (config.service.public_url || (listeningUrl() ?? OWN_ORIGIN)).replace(/\/+$/, "");
      const { max_result_bytes: maxResultBytes, tools } = config.mcp;
      return createMcpEndpoint({ name, basePath, origin, maxResultBytes, tools, callOf });
    },
  });
}
