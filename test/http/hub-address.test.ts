import { expect, test } from "bun:test";
import { Elysia } from "elysia";
import { runHttp } from "../support/http.ts";
import { sampleRoutes } from "./sample-routes.ts";

/** A port that was free a moment ago. */
function freePort(): number {
  const probe = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = probe;
  probe.stop(true);
  return port;
}

test("the address of the hub has the paths of the hub and no others, and stops with the server", async () => {
  const hub = new Elysia().get("/thing", () => ({ it: "is" }));
  const port = freePort();
  const http = runHttp({
    plugins: sampleRoutes(),
    hubPlugins: [hub],
    hubAddress: { host: "127.0.0.1", port },
  });
  const url = `http://127.0.0.1:${port}`;
  for (const at of [url, http.url]) {
    const response = await fetch(`${at}/v1/thing`);
    expect([response.status, await response.json()]).toEqual([200, { it: "is" }]);
  }
  for (const path of ["/", "/health", "/metrics", "/docs", "/v2/svc/user?fid=3", "/v1"]) {
    const response = await fetch(url + path);
    expect([path, response.status]).toEqual([path, 404]);
    expect(await response.json()).toMatchObject({ errCode: "not_found", message: "unknown route" });
  }
  await http[Symbol.asyncDispose]();
  expect(fetch(`${url}/v1/thing`)).rejects.toThrow();
});
