import { expect, test } from "bun:test";
import { ResponseCache } from "../../src/http/response/response-cache.ts";
import { runHttp } from "../support/http.ts";
import { brokenRoutes, sampleRoutes } from "./sample-routes.ts";

test("every response has nosniff: new, cached, 304, rejected, failed, of management, of operations", async () => {
  const clock = { nowMs: () => 1_700_000_000_000 };
  const cache = new ResponseCache({ index: { dataVersion: () => 1 }, clock });
  await using http = runHttp({ plugins: [...sampleRoutes(), brokenRoutes()], clock, cache });
  const post = { method: "POST", body: "{}" };
  const etag = (await fetch(http.api("/user?fid=3"))).headers.get("etag") ?? "";
  const requests: [url: string, init: RequestInit, status: number][] = [
    ["/user?fid=3", {}, 200],
    ["/user?fid=3", {}, 200],
    ["/user?fid=3", { method: "HEAD" }, 200],
    ["/user?fid=3", { headers: { "if-none-match": etag } }, 304],
    ["/user?fid=x", {}, 400],
    ["/nowhere", {}, 404],
    ["/throws", {}, 500],
    ["/cast", post, 501],
    ["/notes", { method: "POST", body: "x".repeat(70_000) }, 413],
    ["/frame/app", post, 200],
    ["/%zz", {}, 400],
  ];
  const urls = requests.map(([path, ...rest]) => [http.api(path), ...rest] as const);
  for (const path of [
    "/health",
    "/ready",
    "/status",
    "/metrics",
    "/openapi.json",
    "/docs",
    "/docs/init.js",
  ]) {
    urls.push([http.url + path, {}, 200]);
  }
  for (const [url, init, status] of urls) {
    const response = await fetch(url, init);
    expect([url, response.status, response.headers.get("x-content-type-options")]).toEqual([
      url,
      status,
      "nosniff",
    ]);
  }
});
