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
const mode = process.argv[2];
if (mode === "bare") { const b = Bun.serve({ port: 0, development: false, fetch: () => Response.json({ ok: true }) }); console.log(b.port); }
else if (mode === "elysia") { const a = new Elysia().get("/v2/svc/tiny", () => ({ ok: true })).get("/v2/svc/user", ({ query }) => ({ user: { fid: Number(query.fid) } })); const b = Bun.serve({ port: 0, development: false, fetch: a.fetch }); console.log(b.port); }
else console.log(s.listen().port);
process.on("SIGTERM", () => process.exit(0));
