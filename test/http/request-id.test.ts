import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RunningHttp, runHttp } from "../support/http.ts";
import { sendRaw } from "../support/raw-socket.ts";
import { brokenRoutes, sampleRoutes } from "./sample-routes.ts";

let http: RunningHttp;
beforeAll(() => {
  http = runHttp({ plugins: [...sampleRoutes(), brokenRoutes()] });
});
afterAll(() => http[Symbol.asyncDispose]());

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const requests: [string, string, RequestInit][] = [
  ["a read", "/v2/svc/user?fid=3", {}],
  ["a HEAD", "/v2/svc/user?fid=3", { method: "HEAD" }],
  ["an error of a parameter", "/v2/svc/user", {}],
  ["an unknown route", "/nowhere", {}],
  ["a fault", "/v2/svc/throws", {}],
  ["an unimplemented route", "/v2/svc/cast", { method: "POST" }],
  ["a body too large", "/v2/svc/notes", { method: "POST", body: "x".repeat(65_537) }],
  ["a preflight", "/v2/svc/user", { method: "OPTIONS" }],
  ["the docs", "/docs", {}],
  ["the metrics", "/metrics", {}],
];

test.each(requests)("%s has a new id, or the client's", async (_name, path, init) => {
  const own = await fetch(http.url + path, init);
  expect(own.headers.get("x-request-id")).toMatch(uuidV7);
  expect(own.headers.get("access-control-allow-origin")).toBe("*");

  const response = await fetch(http.url + path, { ...init, headers: { "x-request-id": "client-1" } });
  expect(response.headers.get("x-request-id")).toBe("client-1");
});

test("a 304 has the request id of the client", async () => {
  const first = await fetch(http.api("/user?fid=3"));
  const headers = { "if-none-match": first.headers.get("etag") ?? "", "x-request-id": "again" };
  const second = await fetch(http.api("/user?fid=3"), { headers });
  expect(second.status).toBe(304);
  expect(second.headers.get("x-request-id")).toBe("again");
});

test.each(["a".repeat(128), "A_z-0=9"])("%s is unchanged", async (id) => {
  const response = await fetch(http.api("/user?fid=3"), { headers: { "x-request-id": id } });
  expect(response.headers.get("x-request-id")).toBe(id);
});

test.each(["a".repeat(129), "a b", "a;b", 'a"b', "{}", "a.b", "\xe9"])("%s is replaced", async (id) => {
  const { text } = await sendRaw(
    http.port,
    `GET /v2/svc/user?fid=3 HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: ${id}\r\n\r\n`,
  );
  expect(/x-request-id: (.*)\r\n/i.exec(text)?.[1]).toMatch(uuidV7);
});

test("concurrent requests have their own ids and responses", async () => {
  const responses = await Promise.all(
    Array.from({ length: 300 }, async (_, index) => {
      const path = index % 2 === 0 ? `/user?fid=${index}` : `/user/bulk?fids=${index}`;
      const response = await fetch(http.api(path), { headers: { "x-request-id": `id-${index}` } });
      return { id: response.headers.get("x-request-id"), body: await response.json() };
    }),
  );
  for (const [index, { id, body }] of responses.entries()) {
    expect(id).toBe(`id-${index}`);
    const user = { object: "user", fid: index, name: null };
    expect(body).toEqual(index % 2 === 0 ? { user } : { users: [user], next: { cursor: null } });
  }
});
