import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { RetryableError, UserError } from "../lib/failure.ts";
import { parseJson } from "../lib/json.ts";
import { type NodeCall, REQUEST_ID_PREFIX, ToolError } from "./node-call.ts";
import { createMcpServer, type McpDeps } from "./server.ts";

/** Serves one client over standard input and output, until the client closes its end. */
export function serveMcpOverStdio(deps: McpDeps): { readonly closed: Promise<void> } {
  const closed = Promise.withResolvers<void>();
  serveStdio(() => createMcpServer(deps), { maxSubscriptions: 0 });
  process.stdin.once("close", () => closed.resolve()).once("end", () => closed.resolve());
  return { closed: closed.promise };
}

/**
 * Creates calls of a node over the network.
 *
 * @param exchange sends a request and reads a bounded response.
 */
export function callOverHttp(
  baseUrl: URL,
  key: string | undefined,
  exchange: (
    url: URL,
    init: RequestInit,
  ) => Promise<{ readonly status: number; readonly headers: Headers; readonly text: string }>,
): NodeCall {
  return async ({ method = "GET", path, query, body, signal }) => {
    const url = new URL(baseUrl);
    url.pathname = `${baseUrl.pathname.replace(/\/+$/, "")}${path}`;
    url.search = new URLSearchParams(query).toString();
    const response = exchange(url, {
      method,
      signal,
      headers: {
        "x-request-id": REQUEST_ID_PREFIX + crypto.randomUUID(),
        ...(key !== undefined && { "x-api-key": key }),
        ...(body && { "content-type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const { status, headers, text } = await response.catch((error: unknown) => {
      throw error instanceof UserError || error instanceof RetryableError
        ? new ToolError(error.message)
        : error;
    });
    return { status, headers, body: parseJson(text) };
  };
}
