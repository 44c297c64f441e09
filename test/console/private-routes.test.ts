import { afterAll, describe, expect, test } from "bun:test";
import { privateRoutes } from "../../src/console/routes.ts";
import { createOwnOrigin } from "../../src/http/request/own-origin.ts";
import { runHttp } from "../support/http.ts";

let calls = 0;
const own = createOwnOrigin({ publicUrl: "", listenHost: "127.0.0.1" });
const http = runHttp({
  pages: [
    privateRoutes("/console/op", own)
      .get("/json", () => {
        calls += 1;
        return { answer: 42 };
      })
      .get("/stream", () => {
        calls += 1;
        return new Response("data: 1\n\n", { headers: { "content-type": "text/event-stream" } });
      })
      .post("/act", () => {
        calls += 1;
        return { done: true };
      }),
  ],
});
afterAll(() => http[Symbol.asyncDispose]());

const call = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(`${http.url}/console/op${path}`, { method, headers });

describe("a private route", () => {
  test("serves the node's own pages and programs, and no cache keeps it", async () => {
    const own: Record<string, string>[] = [{}, { origin: http.url }, { host: `localhost:${http.port}` }];
    for (const headers of own) {
      for (const path of ["/json", "/stream"]) {
        const response = await call(path, headers);
        expect(response.status).toBe(200);
        expect(response.headers.get("cache-control")).toBe("no-store");
        expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
      }
    }
    expect(await (await call("/act", {}, "POST")).json()).toEqual({ done: true });
  });

  test.each<Record<string, string>>([
    { host: "evil.example" },
    { host: "evil.example", origin: "http://evil.example" },
    { origin: "https://evil.example" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
  ])("refuses %p with 403 before its handler runs, and lets no script read that", async (headers) => {
    const before = calls;
    for (const [path, method] of [
      ["/json", "GET"],
      ["/stream", "GET"],
      ["/act", "POST"],
    ] as const) {
      const response = await call(path, headers, method);
      expect(response.status).toBe(403);
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
      expect(Object.keys((await response.json()) as object)).toEqual(["message"]);
    }
    expect(calls).toBe(before);
  });

  test("allows no preflight", async () => {
    const headers = { origin: "https://evil.example", "access-control-request-method": "POST" };
    const response = await call("/act", headers, "OPTIONS");
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });
});
