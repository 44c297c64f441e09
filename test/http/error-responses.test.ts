import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Elysia, status } from "elysia";
import { ApiError } from "../../src/http/errors.ts";
import { jsonBodyDecoder } from "../../src/http/request/body.ts";
import { namedByMessage } from "../support/case-name.ts";
import { type RunningHttp, runHttp } from "../support/http.ts";
import { brokenRoutes, sampleRoutes, secretText } from "./sample-routes.ts";

let http: RunningHttp;
beforeAll(() => {
  const customResponses = new Elysia({ name: "custom-responses" })
    .get("/full", () => {
      throw new ApiError("tooManyRequests", "the cap is 25", { retryAfterSecs: 60 });
    })
    .get("/wrapped", () => {
      throw new ApiError("unavailable", "try later", { cause: new Error(secretText) });
    })
    .get("/status", () => {
      throw status(403, "not yours");
    })
    .get("/status-returned", () => status(202, { queued: true }));
  http = runHttp({ plugins: [...sampleRoutes(), brokenRoutes(), customResponses] });
});
afterAll(() => http[Symbol.asyncDispose]());

async function expectError(response: Response, code: number, message: string): Promise<void> {
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("x-request-id")).toBeTruthy();
  expect(await response.json()).toEqual({ message });
  expect(response.status).toBe(code);
}

describe("a fault is 500 with a fixed text", () => {
  test.each([
    "throws",
    "throws-async",
    "rejects-unseen",
    "throws-text",
    "throws-nothing",
    "throws-a-lookalike",
    "returns-nothing",
    "returns-a-circle",
    "returns-a-bigint",
  ])("%s", async (path) => {
    const requestId = `fault-${path}`;
    const response = await fetch(http.api(`/${path}`), { headers: { "x-request-id": requestId } });
    expect([...response.headers.values()].join()).not.toContain("secret");
    await expectError(response, 500, "internal error");

    const logged = http.logLines.filter((line) => line.requestId === requestId);
    const fault = logged.find((line) => line.msg === "Request failed");
    expect(fault).toMatchObject({ level: "error", method: "GET" });
    if (path.startsWith("throws-") && path !== "throws-nothing") {
      expect(fault?.route).toBe(`/v2/svc/${path}`);
      expect(JSON.stringify(fault)).toContain(secretText);
    }
  });

  test("after a body was read", async () => {
    const response = await fetch(http.api("/throws-with-body"), { method: "POST", body: "{}" });
    await expectError(response, 500, "internal error");
  });
});

test("awaits a promise that Elysia does not detect", async () => {
  const response = await fetch(http.api("/resolves-unseen"));
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ ok: true });
});

describe("errors meant for the client are sent", () => {
  test("status, message and retry-after of an ApiError", async () => {
    const response = await fetch(http.api("/full"));
    expect(response.headers.get("retry-after")).toBe("60");
    await expectError(response, 429, "the cap is 25");
  });

  test("a 503 says when to try again", async () => {
    const response = await fetch(http.api("/wrapped"));
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
  });

  test("the cause of an ApiError is logged and not sent", async () => {
    const response = await fetch(http.api("/wrapped"), { headers: { "x-request-id": "wrapped" } });
    await expectError(response, 503, "try later");
    const fault = http.logLines.find((line) => line.requestId === "wrapped" && line.level === "error");
    expect(JSON.stringify(fault)).toContain(secretText);
  });

  test("403 for a thrown status", async () => {
    await expectError(await fetch(http.api("/status")), 403, "not yours");
  });

  test("202 for a returned status, which is not an error", async () => {
    const response = await fetch(http.api("/status-returned"));
    expect(response.status).toBe(202);
    expect(await response.json()).toEqual({ queued: true });
  });
});

describe("404", () => {
  test.each([
    ["GET", "/"],
    ["GET", "/v2/svc"],
    ["GET", "/v2/other/user?fid=3"],
    ["GET", "/v2/svc/User?fid=3"],
    ["GET", "/V2/svc/user?fid=3"],
    ["GET", "/v2/svc/user/bulk/x"],
    ["POST", "/v2/svc/user?fid=3"],
    ["PUT", "/v2/svc/cast"],
    ["PROPFIND", "/v2/svc/user"],
  ])("%s %s is an unknown route", async (method, path) => {
    const response = await fetch(http.url + path, { method, ...(method === "PUT" ? { body: "{}" } : {}) });
    await expectError(response, 404, "unknown route");
  });

  test("HEAD of an unknown route has no body", async () => {
    const response = await fetch(`${http.url}/nowhere`, { method: "HEAD" });
    expect(response.status).toBe(404);
    expect(await response.text()).toBe("");
  });

  test("of an unknown object has the route's own text", async () => {
    await expectError(await fetch(http.api("/user?fid=1001")), 404, "no such user");
  });
});

describe("400 names the parameter or the field", () => {
  test.each([
    ["/user", "missing query parameter fid"],
    ["/user?fid=", "missing query parameter fid"],
    ["/user?fid=x", "fid must be an unsigned integer"],
    ["/user?fid=1&fid=2", "query parameter fid must be given once"],
    ["/user?fid=1&viewer_fid=-1", "viewer_fid must be an unsigned integer"],
    ["/user?fid=%zz", "query string is not valid percent-encoded UTF-8"],
    ["/user/bulk?fids=1&limit=0", "limit must be a positive integer"],
    ["/items/%zz", "path is not valid percent-encoded UTF-8"],
  ])("%s", async (path, message) => {
    await expectError(await fetch(http.api(path)), 400, message);
  });

  test.each(
    namedByMessage<string>([
      ["", "missing request body"],
      ["{", "request body is not valid JSON: it ends at line 1, column 2"],
      ["name=a", "request body is not valid JSON: unexpected character at line 1, column 1"],
      ["[]", "body: expected object"],
      ["null", "body: expected object"],
      ["{}", "missing field name"],
      ['{"name":""}', "name: expected string length greater or equal to 1"],
      ['{"name":"a","size":-1}', "size: expected integer to be greater or equal to 0"],
      ['{"name":"a","other":1}', "unknown field other"],
      ['{"name":"a","Siez":1}', 'unknown field Siez: did you mean "size"?'],
      ["[".repeat(30_000), "request body is not valid JSON: it ends at line 1, column 30001"],
    ]),
  )("POST is 400: %s", async (_name, body, message) => {
    await expectError(await fetch(http.api("/notes"), { method: "POST", body }), 400, message);
  });

  test("names a misspelt field of an inner object by its path, and suggests only its name", () => {
    const owner = Type.Object({ name: Type.Optional(Type.String()) }, { additionalProperties: false });
    const decode = jsonBodyDecoder(Type.Object({ owner }));
    expect(() => decode(Buffer.from('{"owner":{"nmae":"a"}}'))).toThrow(
      'unknown field owner.nmae: did you mean "name"?',
    );
  });

  test("rejects invalid UTF-8 as invalid JSON", async () => {
    const body = new Uint8Array([...Buffer.from('{"name":"'), 0xc3, 0x28, ...Buffer.from('"}')]);
    const response = await fetch(http.api("/notes"), { method: "POST", body });
    await expectError(response, 400, "request body is not valid JSON: it is not UTF-8");
  });

  test("truncates a field name sent by the client", async () => {
    const body = JSON.stringify({ name: "a", ["x".repeat(10_000)]: 1 });
    const response = await fetch(http.api("/notes"), { method: "POST", body });
    await expectError(response, 400, `unknown field ${"x".repeat(100)}`);
  });
});

test("parses a body as JSON whatever its content type, and uses the handler's status and headers", async () => {
  const body = JSON.stringify({ name: "ä" });
  for (const contentType of [
    "application/json",
    "text/plain",
    "application/x-www-form-urlencoded",
    "nonsense",
  ]) {
    const headers = { "content-type": contentType };
    const response = await fetch(http.api("/notes"), { method: "POST", body, headers });
    expect(response.status).toBe(201);
    expect(response.headers.get("x-sample")).toBe("note");
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toEqual({ name: "ä", bytes: 13 });
  }
});

test("a route group's policy determines the shape of all its errors", async () => {
  const post = (path: string, init: RequestInit) => fetch(http.api(path), { method: "POST", ...init });
  const cases: [Response, number, string][] = [
    [
      await post("/frame/webhook/app1", { body: "{" }),
      400,
      "request body is not valid JSON: it ends at line 1, column 2",
    ],
    [
      await post("/frame/webhook/app1", { body: "x".repeat(65_537) }),
      413,
      "request body must be at most 65536 bytes",
    ],
    [await post("/frame/webhook/app1/more", { body: "{}" }), 404, "unknown route"],
    [await fetch(http.api("/frame/webhook/app1")), 404, "unknown route"],
  ];
  for (const [response, code, message] of cases) {
    expect(response.status).toBe(code);
    expect(await response.json()).toEqual({ success: false, message });
  }
});

test("an unimplemented route responds with 501", async () => {
  for (const method of ["POST", "DELETE"]) {
    const response = await fetch(http.api("/cast"), { method, body: "anything" });
    await expectError(response, 501, "not implemented");
  }
});

test("while the index cannot be read the API is 503 with the reason, and the operator's endpoints respond", async () => {
  let reason: string | undefined = "the index is being filled from the upstream";
  await using building = runHttp({ plugins: sampleRoutes(), unavailableReason: () => reason });
  await expectError(await fetch(building.api("/echo?n=1")), 503, reason);
  expect((await fetch(`${building.url}/health`)).status).toBe(200);
  reason = undefined;
  expect((await fetch(building.api("/echo?n=1"))).status).not.toBe(503);
});
