import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { ApiKeyCaller } from "../../src/http/caller.ts";
import { keyCallerOf } from "../../src/http/exchange.ts";
import { operation } from "../../src/http/route/operation.ts";
import { createTermsOf, OPEN, READ, requireKey } from "../../src/http/route-terms.ts";
import { runHttp } from "../support/http.ts";

const writeRoute = () =>
  new Elysia().post(
    "/write",
    ({ request }) => ({ fid: keyCallerOf(request).ownerFid }),
    operation({
      operationId: "write",
      summary: "Write",
      tags: ["Test"],
      access: requireKey("write"),
      response: Type.Object({ fid: Type.Integer() }),
    }),
  );

const caller: ApiKeyCaller = {
  kind: "apiKey",
  apiKeyId: "testKey111111111",
  ownerFid: 3,
  custody: new Uint8Array(20),
  scopes: ["write"],
  appId: null,
  rulesVersion: 0,
  prefix: "svc_testKey1",
  unitsPerMinute: 1,
  writesPerMinute: 1,
};

test("a route that requires a key has the caller that the gate admitted, and none without a gate", async () => {
  await using keyless = runHttp({ plugins: [writeRoute()] });
  const refused = await fetch(keyless.api("/write"), { method: "POST" });
  expect([refused.status, refused.headers.get("x-error-code")]).toEqual([401, "invalid_key"]);
  await using gated = runHttp({
    plugins: [writeRoute()],
    gate: {
      recordUse: () => undefined,
      admit(exchange, { access, template }) {
        if (access.kind === "key" && access.scope === "write" && template === "/v2/svc/write") {
          exchange.caller = caller;
        }
      },
    },
  });
  expect(await (await fetch(gated.api("//write/"), { method: "POST" })).json()).toEqual({ fid: 3 });
});

test("a GET is a read, other methods are open, and paths without a route are reads", () => {
  const termsOf = createTermsOf([
    { method: "GET", path: "/v2/svc/user", hooks: {} },
    { method: "POST", path: "/v2/svc/frame/webhook/:app_id", hooks: {} },
    { method: "GET", path: "/v2/svc/api_key", hooks: { access: OPEN } },
  ]);
  const accessOf = (method: string, path: string) => termsOf(method, path).access;
  expect([accessOf("GET", "/v2/svc/user"), accessOf("HEAD", "/v2/svc/user/")]).toEqual([READ, READ]);
  expect(termsOf("POST", "/v2/svc/frame/webhook/x")).toEqual({
    template: "/v2/svc/frame/webhook/:app_id",
    access: OPEN,
    price: expect.any(Function),
    share: undefined,
    cache: undefined,
  });
  expect(accessOf("GET", "/v2/svc/api_key/")).toBe(OPEN);
  const write = createTermsOf([
    { method: "POST", path: "/v2/svc/message", hooks: { access: requireKey("write") } },
    { method: "GET", path: "/v2/svc/message", hooks: { access: requireKey("write") } },
  ]);
  expect([write("POST", "/v2/svc/message").price(""), write("GET", "/v2/svc/message").price("")]).toEqual([
    20, 1,
  ]);
  for (const path of ["/v2/svc/frame/webhook/x/y", "/v2/svc/User", "/v2/svc/user/x"]) {
    expect(termsOf("POST", path)).toMatchObject({ template: undefined, access: READ });
  }
});
