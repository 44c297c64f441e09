import type { AnyElysia } from "elysia";
import { bearerOf } from "../../api-keys/gate.ts";
import { basePathOf, serviceNames } from "../../config/names.ts";
import type { Config } from "../../config/schema.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { createOwnOrigin } from "../../http/request/own-origin.ts";
import type { HttpServer } from "../../http/server.ts";
import { parseJson } from "../../lib/json.ts";
import { createConfirmTokens } from "../../mcp/confirm-tokens.ts";
import { type NodeCall, REQUEST_ID_PREFIX } from "../../mcp/node-call.ts";
import { mcpRoutes } from "../../mcp/routes.ts";
import type { WriteSettings } from "../../mcp/tool.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import type { SignInNonceStore } from "../../sign-in/nonce-store.ts";
import { version } from "../../version.ts";

const KEY_BYTES = 32;
/** A longer id would be replaced. */
const MAX_REQUEST_ID_CHARS = 128;
/** The origin of requests that a thread sends to itself. */
const OWN_ORIGIN = "http://127.0.0.1";

/**
 * Returns the route of `/mcp`. Its tools read through the node's own pipeline with the key and address of their client, so that prices,
 * limits and caches are those of any other request.
 */
export function createMcp(deps: {
  readonly config: Pick<Config, "service" | "http" | "mcp" | "writes">;
  readonly log: Logger;
  readonly nonces: Pick<SignInNonceStore, "key">;
  /** The clock of the state. */
  readonly clock: Clock;
  readonly handle: HttpServer["handle"];
  readonly listeningUrl: () => string | undefined;
}): AnyElysia {
  const { config, log, nonces, clock, handle, listeningUrl } = deps;
  const { name } = config.service;
  const { basePath, headerPrefix } = serviceNames(name);
  const compatPrefix = config.service.compat_prefixes[0];
  const callOf =
    (outer: Request): NodeCall =>
    async ({ method = "GET", path, query, body, signal }) => {
      const key = bearerOf(outer.headers);
      const { client, requestId } = exchangeOf(outer);
      const { address } = client();
      const request = new Request(`${OWN_ORIGIN}${path}?${new URLSearchParams(query)}`, {
        method,
        signal,
        headers: {
          "x-request-id": (REQUEST_ID_PREFIX + requestId).slice(0, MAX_REQUEST_ID_CHARS),
          ...(key !== undefined && { "x-api-key": key }),
          ...(body && { "content-type": "application/json" }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      const response = await handle(request, {
        requestIP: () => ({ address, family: address.includes(":") ? "IPv6" : "IPv4", port: 0 }),
        timeout: () => undefined,
        upgrade: () => false,
      });
      return {
        status: response.status,
        headers: response.headers,
        body: parseJson(await response.text()),
      };
    };
  const key = () => nonces.key(crypto.getRandomValues(new Uint8Array(KEY_BYTES)));
  /** The list of tools depends only on whether the caller has the scope `write`. */
  const writesOf = (request: Request): WriteSettings | undefined => {
    const { caller } = exchangeOf(request);
    const mayWrite =
      config.mcp.writes &&
      config.writes.enabled &&
      caller.kind === "apiKey" &&
      caller.scopes.includes("write");
    if (!mayWrite || compatPrefix === undefined) return undefined;
    return {
      compatPath: basePathOf(compatPrefix),
      hashHeader: `${headerPrefix}Message`,
      tokens: createConfirmTokens({ key, owner: caller.apiKeyId, clock }),
    };
  };
  const origin = () => (config.service.public_url || (listeningUrl() ?? OWN_ORIGIN)).replace(/\/+$/, "");
  return mcpRoutes({
    own: createOwnOrigin({ publicUrl: config.service.public_url, listenHost: config.http.host }),
    load: async () => {
      const { createMcpEndpoint } = await import("../../mcp/endpoint.ts");
      const { max_result_bytes: maxResultBytes, tools } = config.mcp;
      return createMcpEndpoint({
        name,
        basePath,
        origin: origin(),
        maxResultBytes,
        tools,
        callOf,
        writesOf,
        onFault: (err) => log.error({ err }, "An MCP call failed"),
      });
    },
    loadPages: async () => {
      const { llmsPage, llmsText } = await import("../../mcp/resources/llms-text.ts");
      return { list: () => llmsText({ name, version, basePath, origin: origin() }), page: llmsPage };
    },
  });
}
