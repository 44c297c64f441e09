import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { operation } from "../../src/http/operation.ts";
import { fid } from "../../src/http/params.ts";
const orig = globalThis.Function;
// @ts-ignore
globalThis.Function = new Proxy(orig, { apply(t, s, a) { if (String(a[1]).includes("function handle") || String(a[1]).includes("function map")) console.log("-----\n" + a[1]); return t(...a); } });
import { makeHttp } from "../support/http.ts";
const p = new Elysia({ name: "t" }).get("/user", ({ query }) => ({ user: { fid: query.fid } }), operation({ operationId: "getUser", summary: "x", tags: ["Users"], query: { fid: fid() }, response: Type.Object({}) }));
const { server } = makeHttp({ plugins: [p] });
await server.handle(new Request("http://localhost/v2/svc/user?fid=3"));
