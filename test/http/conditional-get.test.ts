import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type RunningHttp, runHttp } from "../support/http.ts";
import { sampleRoutes } from "./sample-routes.ts";

let http: RunningHttp;
beforeAll(() => {
  http = runHttp({ plugins: sampleRoutes() });
});
afterAll(() => http[Symbol.asyncDispose]());

const get = (path: string, ifNoneMatch?: string, method = "GET") =>
  fetch(http.api(path), {
    method,
    headers: ifNoneMatch === undefined ? {} : { "if-none-match": ifNoneMatch },
  });

async function etagOf(path: string): Promise<string> {
  return (await get(path)).headers.get("etag") ?? "";
}

describe("a read", () => {
  test("has a weak ETag that depends only on its content, and must be revalidated", async () => {
    const first = await get("/user?fid=3");
    expect(first.headers.get("etag")).toMatch(/^W\/"[0-9a-f]+"$/);
    expect(first.headers.get("cache-control")).toBe("public, no-cache");
    expect(await etagOf("/user/?viewer_fid=9&fid=03")).toBe(await etagOf("/user?fid=3"));
    expect(await etagOf("/user?fid=4")).not.toBe(await etagOf("/user?fid=3"));
  });

  test("is 304 without a body if the client has it", async () => {
    const etag = await etagOf("/user?fid=3");
    const forms = [etag, etag.slice(2), `"other", ${etag}`, `W/"other",${etag}, "x"`, "*", ` ${etag} `];
    for (const method of ["GET", "HEAD"]) {
      for (const form of forms) {
        const response = await get("/user?fid=3", form, method);
        expect(response.status).toBe(304);
        expect(await response.text()).toBe("");
        expect(response.headers.get("etag")).toBe(etag);
        expect(response.headers.get("cache-control")).toBe("public, no-cache");
        expect(response.headers.get("content-type")).toBeNull();
        expect(response.headers.get("access-control-allow-origin")).toBe("*");
      }
    }
  });

  test("is sent if the client has another version", async () => {
    const etag = await etagOf("/user?fid=3");
    const forms = [
      await etagOf("/user?fid=4"),
      '"',
      "",
      etag.slice(3, -1),
      etag.toUpperCase(),
      `${etag}x`,
      "W/",
    ];
    for (const form of forms) {
      const response = await get("/user?fid=3", form);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ user: { fid: 3 } });
    }
  });

  test("has a HEAD with the same headers and no body", async () => {
    const [full, head] = [await get("/user?fid=3"), await get("/user?fid=3", undefined, "HEAD")];
    expect(head.status).toBe(200);
    expect(await head.text()).toBe("");
    const comparable = ({ headers }: Response) =>
      Object.fromEntries([...headers].filter(([name]) => name !== "x-request-id" && name !== "date"));
    expect(comparable(head)).toEqual(comparable(full));
    expect(head.headers.get("content-length")).toBe(String((await full.text()).length));
  });
});

test("an error has no ETag and is no-store, even with If-None-Match: *", async () => {
  const response = await get("/user?fid=1001", "*");
  expect(response.status).toBe(404);
  expect(response.headers.get("etag")).toBeNull();
  expect(response.headers.get("cache-control")).toBe("no-store");
});

test("responses of management, writes and operations are no-store", async () => {
  const post = (path: string) => fetch(http.api(path), { method: "POST", body: '{"name":"a"}' });
  const responses = [
    await post("/frame/app"),
    await post("/webhook/"),
    await post("/frame/notifications/app1"),
    await post("/notes"),
    await post("/batch/count"),
    await fetch(`${http.url}/status`),
    await fetch(`${http.url}/ready`),
  ];
  for (const { ok, headers } of responses) {
    expect(ok).toBe(true);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("etag")).toBeNull();
  }
});
