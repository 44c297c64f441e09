import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { addUnimplemented, operation } from "../../src/http/operation.ts";
import { cursor, fid, fidList, limit, optional } from "../../src/http/params.ts";
import { runHttp } from "../support/http.ts";
const User = Type.Object({ object: Type.Literal("user"), fid: Type.Integer(), name: Type.Union([Type.String(), Type.Null()]) }, { $id: "User" });
const plugin = addUnimplemented(new Elysia({ name: "t" })
  .get("/user", ({ query }) => ({ user: { fid: query.fid } }), operation({ operationId: "getUser", summary: "x", tags: ["Users"], query: { fid: fid(), limit: limit(), cursor: cursor() }, response: Type.Object({ user: User }), errors: ["notFound"] }))
  .get("/user/bulk", async ({ query }) => { const n: readonly number[] = query.fids; return { users: n }; }, operation({ operationId: "bulk", summary: "x", tags: ["Users"], query: { fids: fidList({ maxItems: 350 }), viewer: optional(fid()) }, response: Type.Object({ users: Type.Array(User) }) }))
  .get("/boom", () => { throw new Error("secret boom"); })
  .get("/reject", () => { const p = Promise.reject(new Error("secret boom")); return p; })
  .get("/late", () => { const p = new Promise((r) => setTimeout(r, 5, { a: 1 })); return p; })
  .get("/circular", () => { const a: Record<string, unknown> = {}; a.a = a; return a; })
  .get("/item/:id", ({ params }) => ({ id: params.id }), operation({ operationId: "item", summary: "x", tags: ["Users"], response: Type.Object({ id: Type.String() }) }))
  .get("/thing/:id/sub", ({ params }) => ({ id: params.id }))
  .post("/made", ({ body, set }) => { set.status = 201; set.headers["x-extra"] = "1"; return { got: body.name }; }, operation({ operationId: "made", summary: "x", tags: ["Users"], body: Type.Object({ name: Type.String({ minLength: 1, maxLength: 5 }) }, { additionalProperties: false }), response: { 201: Type.Object({ got: Type.String() }) } }))
  .post("/batch/following", ({ body }) => ({ n: body.fids.length }), operation({ operationId: "b", summary: "x", tags: ["Users"], body: Type.Object({ fids: Type.Array(Type.Integer()) }), response: Type.Object({ n: Type.Integer() }) })),
  [{ method: "POST", path: "/cast", operationId: "publishCast", summary: "x", tags: ["Casts"] }]);
const http = runHttp({ plugins: [plugin] });
async function show(path: string, init?: RequestInit) { const r = await fetch(http.url + path, { redirect: "manual", ...init }); const t = await r.text(); console.log(init?.method ?? "GET", path, r.status, t.slice(0, 200), JSON.stringify([...r.headers].filter(([k]) => !["date", "access-control-expose-headers"].includes(k)))); }
await show("/v2/svc/user?fid=3");
await show("/v2/svc/user/?fid=3");
await show("//v2/svc/user/?fid=3");
await show("/v2//svc/user//bulk///?fids=3,4&fids=5%2C6,,");
await show("/v2/svc/%75ser?fid=3");
await show("/v2/svc/user");
await show("/v2/svc/user?fid=18446744073709551616");
await show("/v2/svc/user?fid=9007199254740993");
await show("/v2/svc/user?fid=%zz");
await show("/v2/svc/user?fid=3", { method: "HEAD" });
await show("/v2/svc/boom"); await show("/v2/svc/reject"); await show("/v2/svc/late"); await show("/v2/svc/circular");
await show("/v2/svc/item/%zz"); await show("/v2/svc/item/a%2Fb/"); await show("/v2/svc/item/é"); await show("/v2/svc/thing/a//sub/"); await show("/v2/svc/item/%E0%A4%A"); 
await show("/nope"); await show("/nope", { method: "HEAD" }); await show("/v2/svc/user", { method: "POST", body: "x" });
await show("/v2/svc/made", { method: "POST", body: JSON.stringify({ name: "abc" }) });
await show("/v2/svc/made", { method: "POST", body: JSON.stringify({ name: "" }) });
await show("/v2/svc/made", { method: "POST", body: JSON.stringify({ name: "abc", x: 1 }) });
await show("/v2/svc/made", { method: "POST", body: "{" });
await show("/v2/svc/made", { method: "POST" });
await show("/v2/svc/made", { method: "POST", body: "x".repeat(65537) });
await show("/v2/svc/made", { method: "POST", body: new ReadableStream({ async pull(c) { c.enqueue(new Uint8Array(10000)); } }) });
await show("/v2/svc/cast", { method: "POST", body: "x".repeat(1000000) });
await show("/v2/svc/user", { method: "OPTIONS" });
await show("/health"); await show("/ready"); await show("/status/"); await show("/docs"); await show("/docs/"); await show("/docs/swagger-ui.css"); await show("/openapi.json");
await show("/metrics");
console.log(http.logLines.filter((l) => (l.level as number) >= 40));
console.log(JSON.stringify(await http.server.openApi(), null, 1));
await http.server.stop();
process.exit(0);
