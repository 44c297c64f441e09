import { createMcpHandler } from "@modelcontextprotocol/server";
import type { NodeCall } from "./node-call.ts";
import { createMcpServer, type McpDeps } from "./server.ts";

/** Serves one request of MCP over HTTP. */
export type McpEndpoint = (request: Request, message: unknown) => Promise<Response>;

/** Creates the endpoint of a thread. Responses are complete: nothing of a call runs after them. */
export function createMcpEndpoint(
  deps: Omit<McpDeps, "call" | "signal"> & { readonly callOf: (request: Request) => NodeCall },
): McpEndpoint {
  return async (request, message) => {
    const { callOf, ...rest } = deps;
    const handler = createMcpHandler(
      () => createMcpServer({ ...rest, call: callOf(request), signal: request.signal }),
      { responseMode: "json", maxSubscriptions: 0, keepAliveMs: 0 },
    );
    const bare = new Request(request.url, {
      method: "POST",
      headers: request.headers,
      signal: request.signal,
    });
    const response = await handler.fetch(bare, { parsedBody: message });
    const headers = new Headers(response.headers);
    headers.set("cache-control", "no-store");
    return new Response(await response.arrayBuffer(), { status: response.status, headers });
  };
}
