import { expect, test } from "bun:test";
import { runHttp } from "../support/http.ts";
import { brokenRoutes, sampleRoutes } from "./sample-routes.ts";

test("logs each response as one line with method, template, status, duration and id, at the level of its status", async () => {
  await using http = runHttp({ plugins: [...sampleRoutes(), brokenRoutes()] });
  const cases: [string, RequestInit, number, string, string][] = [
    ["/v2/svc/user?fid=1", {}, 200, "/v2/svc/user", "debug"],
    ["/v2/svc/user?fid=1", { headers: { "if-none-match": "*" } }, 304, "/v2/svc/user", "debug"],
    ["/v2/svc/user", {}, 400, "/v2/svc/user", "info"],
    ["/v2/svc/cast", { method: "POST" }, 501, "/v2/svc/cast", "info"],
    ["/v2/svc/throws", {}, 500, "/v2/svc/throws", "warn"],
    ["/nowhere", {}, 404, "unmatched", "info"],
  ];
  for (const [index, [path, init, status, route, level]] of cases.entries()) {
    const requestId = `case-${index}`;
    await fetch(http.url + path, { ...init, headers: { ...init.headers, "x-request-id": requestId } });
    const lines = http.logLines.filter(
      (line) => line.requestId === requestId && line.msg === "Request handled",
    );
    expect(lines).toEqual([
      expect.objectContaining({ subsystem: "http", method: init.method ?? "GET", route, status, level }),
    ]);
    expect(lines[0]?.durationMs).toBeGreaterThan(0);
  }
});

test("a node that is not ready does not log each check of a balancer", async () => {
  await using http = runHttp({ ops: { notReadyReason: () => "filling the index" } });
  expect((await fetch(`${http.url}/ready`)).status).toBe(503);
  const handled = http.logLines.filter(({ msg }) => msg === "Request handled");
  expect(handled).toEqual([expect.objectContaining({ route: "/ready", status: 503, level: "debug" })]);
});

test("logs no secret that a client sends", async () => {
  await using http = runHttp({ plugins: [...sampleRoutes(), brokenRoutes()] });
  const secret = "s3cr3t-value";
  const headers = { "x-api-key": secret, authorization: secret, "x-svc-signature": secret, cookie: secret };
  for (const path of ["/user?fid=1", "/user?fid=", "/throws", "/nowhere"]) {
    await fetch(`${http.api(path)}${path.includes("?") ? "&" : "?"}api_key=${secret}`, { headers });
  }
  const body = JSON.stringify({ name: secret });
  await fetch(http.api("/notes"), { method: "POST", body, headers });
  expect(http.logLines.length).toBeGreaterThan(5);
  expect(JSON.stringify(http.logLines)).not.toContain(secret);
});
