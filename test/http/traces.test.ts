import { expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { Elysia } from "elysia";
import { ResponseCache } from "../../src/http/response/response-cache.ts";
import { spansOfReads } from "../../src/runtime/trace/open-spans.ts";
import { createSpans, type EndedSpan } from "../../src/runtime/trace/spans.ts";
import { type RunHttpOptions, runHttp } from "../support/http.ts";
import { startTestNode } from "../support/node.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";

/** A server whose spans are kept, and whose reads open a snapshot of an index. */
function startTraced(http: RunHttpOptions["http"] = {}) {
  const ended: EndedSpan[] = [];
  const clock = { nowMs: () => 1_700_000_000_000 };
  const spans = createSpans({
    ratio: 1,
    onEnd: (span) => ended.push(span),
    stop: async () => undefined,
    clock,
    monotonicMs: () => performance.now(),
    random: () => 0,
  });
  const { db } = startTestNode();
  db.traceRead = spansOfReads(spans);
  const routes = new Elysia({ name: "traced" })
    .get(
      "/user",
      async () => {
        await setImmediate();
        return db.snapshot(() => ({ fid: 3 }));
      },
      { cache: "shared" } as object,
    )
    .get("/fails", () =>
      db.snapshot(() => {
        throw new Error("secret of the database");
      }),
    );
  const node = runHttp({
    plugins: [routes],
    http,
    clock,
    spans,
    cache: new ResponseCache({ index: { dataVersion: () => 1 }, clock }),
  });
  const get = async (path: string, headers: Record<string, string> = {}) => {
    await (await fetch(path.startsWith("/v2") ? node.url + path : node.api(path), { headers })).text();
    return ended.splice(0);
  };
  return { node, get, db };
}

test("a request of the API is a span, with its read below it, and names neither its query nor its key", async () => {
  const { node, get } = startTraced();
  await using _ = node;
  const [read, request] = await get("/user?fid=3&secret=hidden", {
    "x-request-id": "mine-1",
    "x-api-key": "hidden",
  });
  expect(request).toMatchObject({
    name: "GET /v2/svc/user",
    kind: "server",
    parentId: undefined,
    link: undefined,
    failure: undefined,
    attributes: {
      "http.request.method": "GET",
      "http.route": "/v2/svc/user",
      "http.response.status_code": 200,
      "svc.request_id": "mine-1",
      "svc.cached": false,
    },
  });
  expect(read).toMatchObject({
    name: "read index",
    kind: "internal",
    traceId: request?.traceId,
    parentId: request?.spanId,
  });
  expect(JSON.stringify([read, request])).not.toContain("hidden");
  // The cache responds without a read.
  await get("/user?fid=3&secret=hidden");
  const cached = await get("/user?fid=3&secret=hidden");
  expect(cached.map(({ name, attributes }) => [name, attributes["svc.cached"]])).toEqual([
    ["GET /v2/svc/user", true],
  ]);
});

test("a failure, an unknown path and an invented method are spans of few names; what operators poll is none", async () => {
  const { node, get } = startTraced();
  await using _ = node;
  const failed = await get("/fails");
  expect(failed.map(({ name, failure }) => [name, failure])).toEqual([
    ["read index", undefined],
    ["GET /v2/svc/fails", "500"],
  ]);
  expect(JSON.stringify(failed)).not.toContain("secret");
  expect(await get("/no/such/hidden")).toMatchObject([{ name: "GET unmatched", failure: undefined }]);
  await fetch(node.api("/user"), { method: "PROPFIND" }).then((response) => response.text());
  expect((await get("/user?fid=3"))[0]).toMatchObject({ name: "other unmatched" });
  for (const path of ["/health", "/ready", "/metrics", "/status"])
    await (await fetch(node.url + path)).text();
  expect(await get("/user?fid=4")).toMatchObject([{ name: "read index" }, { name: "GET /v2/svc/user" }]);
});

test("a trusted proxy's trace is continued, or not exported as it says; a stranger's is only linked", async () => {
  const strangers = startTraced();
  await using _ = strangers.node;
  const sampled = { traceparent: `00-${TRACE}-${CALLER}-01` };
  const [, linked] = await strangers.get("/user", sampled);
  expect(linked?.link).toEqual({ traceId: TRACE, spanId: CALLER, isSampled: true });
  expect(linked?.traceId).not.toBe(TRACE);
  const [invalid] = await strangers.get("/user", { traceparent: `00-${TRACE}-${CALLER}-01-x` });
  expect(invalid?.link).toBeUndefined();
  const proxied = startTraced({ trusted_proxies: ["127.0.0.0/8"] });
  await using __ = proxied.node;
  const [, request] = await proxied.get("/user", sampled);
  expect(request).toMatchObject({ traceId: TRACE, parentId: CALLER });
  expect(await proxied.get("/user?fid=4", { traceparent: `00-${TRACE}-${CALLER}-00` })).toEqual([]);
});

test("a read of the same index without a request makes no span", async () => {
  const { node, db, get } = startTraced();
  await using _ = node;
  expect(db.snapshot(() => 3)).toBe(3);
  expect(await get("/user?fid=9")).toHaveLength(2);
});
