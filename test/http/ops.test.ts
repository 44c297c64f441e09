import { describe, expect, test } from "bun:test";
import { Registry } from "prom-client";
import { createHttpMetrics } from "../../src/http/metrics/http-metrics.ts";
import type { ReadyFacts } from "../../src/http/route/ops.ts";
import { runHttp } from "../support/http.ts";
import { expectMatchesOpenApi } from "../support/openapi.ts";
import { brokenRoutes, sampleRoutes, secretText } from "./sample-routes.ts";

describe("/health", () => {
  test("is 200 while the process is alive, ready or not", async () => {
    await using http = runHttp({ ops: { notReadyReason: () => "importing" } });
    const response = await fetch(`${http.url}/health`);
    expect(response.status).toBe(200);
    expectMatchesOpenApi(await http.server.openApi(), "GET", "/health", 200, await response.json());
  });
});

describe("/ready", () => {
  test("is 200 and says why the node serves less than the network has, and that no one has set it up", async () => {
    const reason = "the network is ahead of this program";
    const facts: readonly (readonly [facts: ReadyFacts, body: object])[] = [
      [{ degraded: [], isSetUp: true }, {}],
      [{ degraded: [reason], isSetUp: true }, { degraded: [reason] }],
      [{ degraded: [], isSetUp: false }, { set_up: false }],
    ];
    for (const [readyFacts, said] of facts) {
      await using http = runHttp({ ops: { readyFacts: () => readyFacts } });
      const response = await fetch(`${http.url}/ready`);
      const body = await response.json();
      expect([response.status, body]).toEqual([200, { status: "ready", ...said }]);
      expectMatchesOpenApi(await http.server.openApi(), "GET", "/ready", 200, body);
    }
  });

  test("reports the node's current state", async () => {
    let reason: string | undefined = "12 blocks behind";
    await using http = runHttp({ ops: { notReadyReason: async () => reason } });
    const document = await http.server.openApi();
    const notReady = await fetch(`${http.url}/ready`);
    expect(notReady.status).toBe(503);
    const body = await notReady.json();
    expect(body).toEqual({ message: "12 blocks behind" });
    expectMatchesOpenApi(document, "GET", "/ready", 503, body);

    reason = undefined;
    const ready = await fetch(`${http.url}/ready`);
    expect(ready.status).toBe(200);
    expectMatchesOpenApi(document, "GET", "/ready", 200, await ready.json());
  });
});

describe("/ready?for=proof", () => {
  test("names no time to wait where the index can never be proven", async () => {
    const retryAfter = async (canBeProven: boolean, path: string) => {
      await using http = runHttp({
        ops: { notReadyReason: () => "nothing is proven", canBeProven: () => canBeProven },
      });
      const response = await fetch(`${http.url}${path}`);
      return [response.status, response.headers.get("retry-after")];
    };
    expect(await retryAfter(true, "/ready?for=proof")).toEqual([503, "5"]);
    expect(await retryAfter(false, "/ready?for=proof")).toEqual([503, null]);
    expect(await retryAfter(false, "/ready")).toEqual([503, "5"]);
  });
});

describe("/status", () => {
  test("returns version, uptime and the status of the parts", async () => {
    let nowMs = 1_000_000;
    await using http = runHttp({
      clock: { nowMs: () => nowMs },
      ops: { status: async () => ({ counts: { casts: 3 }, lag_secs: 0.5 }) },
    });
    nowMs += 61_999;
    const response = await fetch(`${http.url}/status`);
    const body = await response.json();
    expect(body).toEqual({ version: "1.2.3", uptime_secs: 61, counts: { casts: 3 }, lag_secs: 0.5 });
    expectMatchesOpenApi(await http.server.openApi(), "GET", "/status", 200, body);
  });

  test("does not expose a fault of a part", async () => {
    await using http = runHttp({ ops: { status: () => Promise.reject(new Error(secretText)) } });
    const response = await fetch(`${http.url}/status`);
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({ message: "internal error" });
  });
});

describe("/metrics", () => {
  test("counts responses by method, route template and status, and refused requests only by status", async () => {
    await using http = runHttp({ plugins: [...sampleRoutes(), brokenRoutes()] });
    const requests: [string, RequestInit?][] = [
      ["/v2/svc/user?fid=1"],
      ["//v2/svc/user/?fid=2"],
      ["/v2/svc/user"],
      ["/v2/svc/user?fid=1", { method: "HEAD" }],
      ["/v2/svc/items/one"],
      ["/v2/svc/items/two"],
      ["/v2/svc/throws"],
      ["/some/path"],
      ["/another/path"],
      ["/another/path", { method: "PROPFIND" }],
      ["/v2/svc/cast", { method: "POST" }],
      ["/v2/svc/cast", { method: "OPTIONS" }],
    ];
    for (const [path, init] of requests) await fetch(http.url + path, init);
    const response = await fetch(`${http.url}/metrics`);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const lines = (await response.text()).split("\n").filter((line) => line.includes("requests_total{"));
    const count = (method: string, route: string, status: number) =>
      lines
        .find((line) => line.includes(`{method="${method}",route="${route}",status="${status}"}`))
        ?.split(" ")[1];
    expect(lines.every((line) => line.startsWith("svc_http_requests_total{"))).toBe(true);
    expect(count("GET", "/v2/svc/user", 200)).toBe("3");
    expect(count("GET", "/v2/svc/items/:id", 200)).toBe("2");
    expect(count("GET", "/v2/svc/throws", 500)).toBe("1");
    expect(count("any", "refused", 400)).toBe("1");
    expect(count("any", "refused", 404)).toBe("3");
    expect(count("any", "refused", 501)).toBe("1");
    expect(count("OPTIONS", "unmatched", 204)).toBe("1");
    expect(lines).toHaveLength(7);
  });

  test("has one label for all methods that no route has, also where the node fails", async () => {
    const registry = new Registry();
    const { observe } = createHttpMetrics({ registry, prefix: "svc_" });
    for (const method of ["LOCK", "QUERY", "get"]) observe(method, "/v2/svc/user", 500, 0.1);
    const text = await registry.metrics();
    expect(text).toContain('svc_http_requests_total{method="other",route="/v2/svc/user",status="500"} 3');
  });

  test("has a bounded number of series, whatever clients send", async () => {
    await using http = runHttp({ plugins: [...sampleRoutes(), brokenRoutes()] });
    const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "QUERY", "LOCK"];
    const paths = [
      "/v2/svc/user?fid=1",
      "/v2/svc/%75ser?fid=1",
      "/v2/svc/user?fid=%FF",
      "/v2/svc/user/?fid=-1",
      "//v2//svc//user",
      "/v2/svc/items/constructor",
      "/v2/svc/items/%2e%2e%2f",
      "/v2/svc/throws",
      "/v2/svc/cast",
      "/v2/%ZZ",
      "/__proto__",
      "/metrics/../health",
      "/v1/x",
    ];
    const accepts = ["gzip", "br;q=1, *;q=0", "identity;q=0"];
    const odd = methods.flatMap((method) =>
      paths.flatMap((path) => accepts.map((encoding) => ({ method, path, encoding }))),
    );
    const send = async (serial: number) => {
      for (const { method, path, encoding } of odd) {
        const headers = { "accept-encoding": encoding };
        const response = await fetch(`${http.url}${path.replace("x", `x${serial}`)}`, { method, headers });
        await response.body?.cancel();
      }
      const text = await (await fetch(`${http.url}/metrics`)).text();
      const lines = text.split("\n").filter((line) => line.startsWith("svc_http_request"));
      const routes = lines.flatMap((line) => /route="([^"]*)"/.exec(line)?.[1] ?? []);
      return { lines: lines.length, routes: [...new Set(routes)].sort() };
    };
    expect(odd.length).toBeGreaterThan(300);
    await send(1);
    const first = await send(2);
    expect(first.routes).toEqual([
      "/health",
      "/metrics",
      "/v2/svc/items/:id",
      "/v2/svc/throws",
      "/v2/svc/user",
      "refused",
      "unmatched",
    ]);
    // 17 lines for each histogram, and some for the counts by method and status.
    expect(first.lines).toBeLessThan(first.routes.length * 17 + 20);
    expect(await send(3)).toEqual(first);
  });

  test("has a histogram of durations whose buckets add up", async () => {
    await using http = runHttp({ plugins: sampleRoutes() });
    for (let index = 0; index < 5; index += 1) await fetch(http.api("/user?fid=1"));
    const text = await (await fetch(`${http.url}/metrics`)).text();
    expect(text).toContain("# TYPE svc_http_request_duration_seconds histogram");
    const series = (suffix: string) =>
      [...text.matchAll(new RegExp(`^svc_http_request_duration_seconds_${suffix}\\{(.*)\\} (.*)$`, "gm"))]
        .filter((match) => match[1]?.includes('route="/v2/svc/user"'))
        .map((match) => Number(match[2]));
    const buckets = series("bucket");
    expect(buckets).toHaveLength(15);
    expect(buckets).toEqual(buckets.toSorted((a, b) => a - b));
    expect(buckets.at(-1)).toBe(5);
    expect(series("count")).toEqual([5]);
    expect(series("sum")[0]).toBeGreaterThan(0);
  });

  test("starts with the service's name", async () => {
    await using http = runHttp({ serviceName: "hub" });
    await fetch(`${http.url}/health`);
    const text = await (await fetch(`${http.url}/metrics`)).text();
    expect(text).toContain('hub_http_requests_total{method="GET",route="/health",status="200"} 1');
  });
});
