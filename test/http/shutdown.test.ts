import { expect, test } from "bun:test";
import { Elysia } from "elysia";
import { ResponseCache } from "../../src/http/response/response-cache.ts";
import { NODE_ID, runHttp } from "../support/http.ts";
import { sampleRoutes } from "./sample-routes.ts";

function pendingRoute() {
  const started = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const plugin = new Elysia({ name: "pending" }).get("/pending", async () => {
    started.resolve();
    await released.promise;
    return { done: true };
  });
  return { plugin, started: started.promise, release: () => released.resolve() };
}

test("stopping rejects new requests and finishes accepted ones", async () => {
  const { plugin, started, release } = pendingRoute();
  await using http = runHttp({ plugins: [plugin] });
  const pending = fetch(http.api("/pending"));
  await started;
  const stopped = http.server.stop();
  await expect(fetch(`${http.url}/health`)).rejects.toThrow();

  release();
  const response = await pending;
  expect(response.status).toBe(200);
  expect(response.headers.get("connection")).toBe("close");
  expect(await response.json()).toEqual({ done: true });
  await stopped;
});

test("closes connections of requests that do not finish within the grace period", async () => {
  const { plugin, started } = pendingRoute();
  await using http = runHttp({ plugins: [plugin] });
  const pending = fetch(http.api("/pending"));
  await started;
  await http.server.stop({ graceMs: 1 });
  await expect(pending).rejects.toThrow();
  expect(http.logLines).toContainEqual(
    expect.objectContaining({
      level: "warn",
      msg: "Closed connections whose requests had not finished",
      graceMs: 1,
    }),
  );
});

test("an idle keep-alive connection does not delay the stop, and stopping twice has no effect", async () => {
  const http = runHttp();
  await (await fetch(`${http.url}/health`)).text();
  await http.server.stop({ graceMs: 60_000 });
  await http.server.stop({ graceMs: 60_000 });
});

test("a server that never listened stops", async () => {
  const http = runHttp();
  await http.server.stop();
});

test("draining keeps serving and has clients close their connections", async () => {
  await using http = runHttp();
  expect((await fetch(`${http.url}/health`)).headers.get("connection")).not.toBe("close");
  http.server.drain();
  const response = await fetch(`${http.url}/health`);
  expect([response.status, response.headers.get("connection")]).toEqual([200, "close"]);
});

test("every response names the node, also errors, preflights and responses from the cache", async () => {
  const cache = new ResponseCache({
    index: { dataVersion: () => 1 },
    clock: { nowMs: () => 1_700_000_000_000 },
  });
  await using http = runHttp({ plugins: sampleRoutes(), cache });
  for (const [path, method] of [
    ["/health", "GET"],
    ["/nowhere", "GET"],
    ["/v2/svc/user?fid=3", "GET"],
    ["/v2/svc/user?fid=3", "GET"],
    ["/v2/svc/user?fid=3", "HEAD"],
    ["/v2/svc/user", "OPTIONS"],
    ["/openapi.json", "GET"],
  ] as const) {
    const { headers } = await fetch(http.url + path, { method });
    expect([path, headers.get("x-svc-node")]).toEqual([path, NODE_ID]);
    expect(headers.get("access-control-expose-headers")).toContain("x-svc-node");
  }
});
