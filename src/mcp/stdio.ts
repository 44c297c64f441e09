import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { parseJson } from "../lib/json.ts";
import type { NodeCall } from "./node-call.ts";
import { createMcpServer, type McpDeps } from "./server.ts";

/** Serves one client over standard input and output, until it closes its end. */
export function serveMcpOverStdio(deps: McpDeps): { readonly closed: Promise<void> } {
  const closed = Promise.withResolvers<void>();
  serveStdio(() => createMcpServer(deps), { maxSubscriptions: 0 });
  process.stdin.once("close", () => closed.resolve()).once("end", () => closed.resolve());
  return { closed: closed.promise };
}

/**
 * Creates calls of a node over the network.
 *
 * @param fetchText sends a GET and reads a bounded response
 */
export function callOverHttp(
  baseUrl: URL,
  fetchText: (url: URL, signal: AbortSignal) => Promise<{ readonly status: number; readonly text: string }>,
): NodeCall {
  return async ({ path, query, signal }) => {
    const url = new URL(baseUrl);
    url.pathname = `${baseUrl.pathname.replace(/\/+$/, "")}${path}`;
    url.search = new URLSearchParams(query).toString();
    const { status, text } = await fetchText(url, signal);
    return { status, body: parseJson(text) };
  };
}
