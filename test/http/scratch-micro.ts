import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import pino from "pino";
import { Registry } from "prom-client";
import { createHttpServer } from "../../src/http/server.ts";
import { operation } from "../../src/http/operation.ts";
import { fid } from "../../src/http/params.ts";
import { httpSettings } from "../support/http.ts";
const p = new Elysia({ name: "t" }).get("/user", ({ query }) => ({ user: { fid: query.fid } }), operation({ operationId: "getUser", summary: "x", tags: ["Users"], query: { fid: fid() }, response: Type.Object({}) }))
  .get("/tiny", () => ({ ok: true }), operation({ operationId: "tiny", summary: "x", tags: ["Users"], response: Type.Object({}) }));
const s = createHttpServer({ common: { config: { http: httpSettings, service: { name: "svc", shutdown_deadline_secs: 1 } }, log: pino({ level: "info" }, pino.destination({ dest: 2, sync: true })), metrics: { registry: new Registry(), prefix: "svc_" }, clock: { nowMs: Date.now } }, plugins: [p], ops: { notReadyReason: () => undefined, status: () => ({}) }, version: "1" });
const init = { headers: { host: "localhost:123", "user-agent": "load", accept: "*/*" } };
for (const path of ["/v2/svc/tiny", "/v2/svc/user?fid=3"]) {
  const url = `http://localhost:3000${path}`;
  for (const [name, f] of [["request only", (r: Request) => r.url], ["handle", s.handle]] as const) {
    for (let i = 0; i < 50000; i++) await f(new Request(url, init));
    const n = 200000; const t = performance.now();
    for (let i = 0; i < n; i++) await f(new Request(url, init));
    console.log(path, name, ((performance.now() - t) / n * 1000).toFixed(2), "us");
  }
}
