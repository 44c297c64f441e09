import { createMcpHandler, METHOD_NOT_FOUND } from "@modelcontextprotocol/server";
import type { NodeCall } from "./node-call.ts";
import { createMcpServer, type McpDeps } from "./server.ts";

/** Serves one MCP request over HTTP. */
export type McpEndpoint = (request: Request, message: unknown) => Promise<Response>;

const OPENAPI_PATH = "/openapi.json";

/** Reads the API document once for all calls: it is large, and does not change while the program runs. */
function withOneDocument(): (call: NodeCall) => NodeCall {
  let document: Awaited<ReturnType<NodeCall>> | undefined;
  return (call) => async (request) => {
    if (request.path !== OPENAPI_PATH) return call(request);
    if (document !== undefined) return document;
    const response = await call(request);
    if (response.status === 200) document = response;
    return response;
  };
}

/**
 * Reports whether a client subscribes to change notifications. The server declares none and has to report an unknown method; the library
 * would report too many subscriptions.
 */
function isListen(message: unknown): message is { readonly id: unknown } {
  return (
    typeof message === "object" &&
    message !== null &&
    "id" in message &&
    "method" in message &&
    message.method === "subscriptions/listen"
  );
}

const notFound = (id: unknown) =>
  Response.json(
    { jsonrpc: "2.0", id, error: { code: METHOD_NOT_FOUND, message: "Method not found" } },
    { status: 404, headers: { "cache-control": "no-store" } },
  );

/** Creates the MCP endpoint of a thread. Responses are complete: no work of a call continues after its response. */
export function createMcpEndpoint(
  deps: Omit<McpDeps, "call" | "signal" | "writes"> & {
    readonly callOf: (request: Request) => NodeCall;
    readonly writesOf: (request: Request) => McpDeps["writes"];
  },
): McpEndpoint {
  const { callOf, writesOf, ...rest } = deps;
  const sharingDocument = withOneDocument();
  return async (request, message) => {
    if (isListen(message)) return notFound(message.id);
    const handler = createMcpHandler(
      () =>
        createMcpServer({
          ...rest,
          call: sharingDocument(callOf(request)),
          writes: writesOf(request),
          signal: request.signal,
        }),
      { maxSubscriptions: 0, keepAliveMs: 0 },
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
