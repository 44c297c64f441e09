import { afterAll, beforeAll, expect, test } from "bun:test";
import { Elysia } from "elysia";
import { ApiError } from "../../src/http/errors.ts";
import { type RunningHttp, runHttp } from "../support/http.ts";
import { sendRaw } from "../support/raw-socket.ts";
import { sampleRoutes } from "./sample-routes.ts";

let http: RunningHttp;
const unknownHubPath = () => {
  throw new ApiError("notFound", "unknown route");
};
beforeAll(() => {
  const hub = new Elysia()
    .get("/thing", () => ({}))
    .post("/thing/:id", () => ({}))
    .all("/*", unknownHubPath);
  const pages = [
    new Elysia()
      .get("/pages/*", () => "page")
      .post("/pages/act", () => "done")
      .post("/pages/acts/:id", () => "done"),
  ];
  http = runHttp({ plugins: sampleRoutes(), hubPlugins: [hub], pages });
});
afterAll(() => http[Symbol.asyncDispose]());

test.each([
  "/v2/svc/user?fid=3",
  "/v2/svc/user/?fid=3",
  "//v2/svc/user/?fid=3",
  "/v2//svc///user////?fid=3",
  "/v2/svc/./user/../user?fid=3",
  "/v2/svc/%75%73er/?fid=3",
  "/%762/svc/user?fid=3",
])("%s is the same route and nothing redirects", async (path) => {
  const { text } = await sendRaw(http.port, `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  expect(text).toStartWith("HTTP/1.1 200 OK");
  expect(text).toEndWith('{"user":{"object":"user","fid":3,"name":null}}');
});

test.each(["/health", "/health/", "//health", "/docs", "/docs/", "//docs//", "/openapi.json/"])(
  "%s is served too",
  async (path) => {
    const { text } = await sendRaw(http.port, `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    expect(text).toStartWith("HTTP/1.1 200 OK");
  },
);

test.each(["a", "x:1", "[::1]", "a/b?c", "127.0.0.1", "long.example.org:8080", "", "\xff"])(
  "the host %p does not change the matched route",
  async (host) => {
    const { text } = await sendRaw(http.port, `GET /v2/svc/user/?fid=3 HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    expect(text).toStartWith("HTTP/1.1 200 OK");
  },
);

test("a target in absolute form and HTTP/1.0 without a host are served", async () => {
  const absolute = await sendRaw(
    http.port,
    "GET http://other.example//v2/svc/user?fid=3 HTTP/1.1\r\nHost: localhost\r\n\r\n",
  );
  expect(absolute.text).toStartWith("HTTP/1.1 200 OK");
  const old = await sendRaw(http.port, "GET /v2/svc/user?fid=3 HTTP/1.0\r\n\r\n");
  expect(old.text).toStartWith("HTTP/1.1 200 OK");
});

test.each([
  ["/items/a%2Fb", "a/b"],
  ["/items/a%2Fb/", "a/b"],
  ["/items/%C3%A9", "é"],
  ["/items/a%20b+c", "a b+c"],
  ["/items/%2541", "%41"],
])("%s decodes its parameter once", async (path, id) => {
  const response = await fetch(http.api(path));
  expect(await response.json()).toEqual({ id });
});

test("the path of the API follows the service's name", async () => {
  await using other = runHttp({ plugins: sampleRoutes(), serviceName: "hub" });
  expect((await fetch(`${other.url}/v2/hub/user?fid=3`)).status).toBe(200);
  expect((await fetch(`${other.url}/v2/svc/user?fid=3`)).status).toBe(404);
});

test.each([
  ["POST", "/health", "GET, HEAD"],
  ["DELETE", "/status/", "GET, HEAD"],
  ["PUT", "//metrics", "GET, HEAD"],
  ["POST", "/docs", "GET, HEAD"],
  ["PATCH", "/openapi.json", "GET, HEAD"],
  ["POST", "/v1/thing", "GET, HEAD"],
  ["GET", "/v1/thing/a%2Fb", "POST"],
  ["GET", "/pages/act", "POST"],
  ["POST", "/pages/other/one", "GET, HEAD"],
  ["PUT", "/pages/acts/1", "GET, HEAD, POST"],
])(
  "outside of /v2/ a wrong method is 405 with those that the path has: %s %s",
  async (method, path, allow) => {
    const response = await fetch(`${http.url}${path}`, { method });
    expect([response.status, response.headers.get("allow")]).toEqual([405, allow]);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await response.json()).toMatchObject({ message: "method not allowed" });
  },
);

test("a path that two routes have, one of them for all below a folder, has the methods of both", async () => {
  for (const method of ["GET", "POST"])
    expect((await fetch(`${http.url}/pages/acts/1`, { method })).status).toBe(200);
});

test.each([
  ["POST", "/v2/svc/user?fid=3"],
  ["GET", "/v1/nothing"],
  ["POST", "/v1/nothing"],
  ["GET", "/nothing"],
])("an unknown path, and a wrong method below /v2/, is 404: %s %s", async (method, path) => {
  const response = await fetch(`${http.url}${path}`, { method });
  expect([response.status, response.headers.get("allow")]).toEqual([404, null]);
});
