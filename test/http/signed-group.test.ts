import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { ApiError } from "../../src/http/errors.ts";
import { captureBody, rawBody } from "../../src/http/request/body.ts";
import { optional, text } from "../../src/http/request/params.ts";
import { operation } from "../../src/http/route/operation.ts";
import { type RunningHttp, runHttp } from "../support/http.ts";

/** The signature in these tests: the sum of the body's bytes. */
const sumOf = (bytes: Uint8Array) => String(bytes.reduce((sum, byte) => sum + byte, 0));

/** A group that verifies the raw bytes before the request is parsed, as signed operations require. */
function signedRoutes() {
  const tags = ["Signed"];
  const response = Type.Object({ fid: Type.Integer(), name: Type.Unknown() });
  return new Elysia({ name: "signed", prefix: "/frame/app" })
    .onParse(captureBody)
    .onTransform(({ request }) => {
      if (request.headers.get("x-svc-signature") !== sumOf(rawBody(request))) {
        throw new ApiError("unauthorized", "bad signature");
      }
    })
    .resolve(({ request }) => ({ actingFid: Number(request.headers.get("x-svc-fid")) }))
    .post(
      "/",
      ({ body, actingFid }) => ({ fid: actingFid, name: body.name }),
      operation({
        operationId: "signedCreate",
        summary: "Create",
        tags,
        security: "signedOperation",
        body: Type.Object({ name: Type.String({ minLength: 1 }) }),
        response,
      }),
    )
    .get(
      "/",
      ({ query, actingFid }) => ({ fid: actingFid, name: query.app_id }),
      operation({
        operationId: "signedRead",
        summary: "Read",
        tags,
        security: "signedOperation",
        query: { app_id: text() },
        response,
      }),
    )
    .delete(
      "/",
      ({ query, actingFid, request }) => ({
        fid: actingFid,
        name: query.app_id ?? rawBody(request).byteLength,
      }),
      operation({
        operationId: "signedDelete",
        summary: "Delete",
        tags,
        security: "signedOperation",
        query: { app_id: optional(text()) },
        response,
      }),
    );
}

let http: RunningHttp;
beforeAll(() => {
  http = runHttp({ plugins: [signedRoutes()] });
});
afterAll(() => http[Symbol.asyncDispose]());

async function send(method: string, query: string, body: string | undefined, signature?: string) {
  const headers = {
    "x-svc-fid": "7",
    "x-svc-signature": signature ?? sumOf(Buffer.from(body ?? "")),
  };
  const init = body === undefined ? { method, headers } : { method, headers, body };
  const response = await fetch(`${http.api("/frame/app/")}${query}`, init);
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("etag")).toBeNull();
  return { status: response.status, body: await response.json() };
}

const refused = { status: 401, body: { message: "bad signature" } };

describe("an invalid signature is 401, whatever else is invalid", () => {
  test.each([
    ["POST", "", '{"name":"a"}'],
    ["POST", "", "{"],
    ["POST", "", "{}"],
    ["POST", "", undefined],
    ["GET", "", undefined],
    ["GET", "?app_id=1&app_id=%zz", undefined],
    ["DELETE", "?app_id=1", undefined],
    ["DELETE", "", "{"],
  ])("%s %s %s", async (method, query, body) => {
    expect(await send(method, query, body, "wrong")).toEqual(refused);
  });
});

describe("with a valid signature", () => {
  test.each([
    ["POST", "", "{", "request body is not valid JSON: it ends at line 1, column 2"],
    ["POST", "", undefined, "missing request body"],
    ["POST", "", "{}", "missing field name"],
    ["GET", "", undefined, "missing query parameter app_id"],
  ])("%s %s %s is 400", async (method, query, body, message) => {
    expect(await send(method, query, body)).toEqual({ status: 400, body: { message } });
  });

  test.each([
    ["POST", "", '{"name":"ä"}', "ä"],
    ["POST", "", ' { "name" : "a" } ', "a"],
    ["GET", "?app_id=x", undefined, "x"],
    ["DELETE", "?app_id=x", undefined, "x"],
    ["DELETE", "", '{"app_id":"y"}', 14],
  ])("%s %s %s passes with the acting fid", async (method, query, body, name) => {
    expect(await send(method, query, body)).toEqual({ status: 200, body: { fid: 7, name } });
  });
});

test("a body over the limit is 413 before the signature is verified", async () => {
  const { status } = await send("POST", "", "x".repeat(32 * 1024 + 1), "wrong");
  expect(status).toBe(413);
});
