import { expect, spyOn, test } from "bun:test";
import { createMcpEndpoint } from "../../src/mcp/endpoint.ts";

test("a request of either revision gets its response, and the library writes no line of its own", async () => {
  using warned = spyOn(console, "warn");
  const endpoint = createMcpEndpoint({
    name: "svc",
    basePath: "/v2/svc",
    origin: "https://node.example",
    maxResultBytes: 65_536,
    tools: [],
    callOf: () => () => Promise.reject(new Error("nothing is read")),
    writesOf: () => undefined,
    onFault: (error) => {
      throw error;
    },
  });
  const responses = [];
  for (const revision of ["2025-06-18", "2026-07-28"]) {
    const headers = {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": revision,
      "mcp-method": "tools/list",
    };
    const meta = {
      "io.modelcontextprotocol/protocolVersion": revision,
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    };
    const params = revision.startsWith("2025") ? {} : { _meta: meta };
    const request = new Request("https://node.example/mcp", { method: "POST", headers });
    const response = await endpoint(request, { jsonrpc: "2.0", id: 1, method: "tools/list", params });
    responses.push([response.status, response.headers.get("content-type"), await response.text()]);
  }
  expect(responses).toEqual([
    [200, "text/event-stream", expect.stringContaining('"get_user"')],
    [200, "application/json", expect.stringContaining('"get_user"')],
  ]);
  expect(warned).not.toHaveBeenCalled();
});
