import { afterEach, beforeEach, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { Elysia } from "elysia";
import { createAdmission } from "../../src/admission/admission.ts";
import type { Budget } from "../../src/admission/budget.ts";
import { createBodySender, JsonStream, respondsLater } from "../../src/http/response/response-body.ts";
import { ResponseCache } from "../../src/http/response/response-cache.ts";
import { type RunningHttp, runHttp } from "../support/http.ts";
import { silentLog } from "../support/log.ts";

const kib = 1024;
const mib = 1024 * kib;

/** Rows of about a kilobyte of JSON. */
const rowsOf = (count: number) => Array.from({ length: count }, (_, n) => ({ n, text: "é".repeat(500) }));

let open: (idleSecs: number) => RunningHttp;
let http: RunningHttp;
let unsent: Budget;
/** Pieces that the last endless stream has produced, and whether it was ended. */
let endless: { pieces: number; ended: PromiseWithResolvers<void> };

beforeEach(() => {
  const clock = { nowMs: () => 1_700_000_000_000 };
  const cached: object = { cache: "shared" };
  const admission = createAdmission();
  unsent = admission.budgets.unsentBytes;
  async function* pieces(): AsyncGenerator<string, void, void> {
    const stream = { pieces: 0, ended: Promise.withResolvers<void>() };
    endless = stream;
    try {
      yield "[0";
      for (; stream.pieces < 100_000; stream.pieces++) yield `,"${"x".repeat(32 * kib)}"`;
      yield "]";
    } finally {
      stream.ended.resolve();
    }
  }
  const routes = new Elysia({ name: "large" })
    .get("/rows/:count", ({ params }) => ({ rows: rowsOf(Number(params.count)) }), cached)
    .get(
      "/pieces/:count",
      ({ params }) => {
        const rows = rowsOf(Number(params.count)).map(
          (row, n) => `${n === 0 ? "[" : ","}${JSON.stringify(row)}`,
        );
        return new JsonStream([...rows, "]"].values());
      },
      cached,
    )
    .get("/endless", () => new JsonStream(pieces()))
    .get("/small", () => ({ ok: true }));
  open = (idleSecs) =>
    runHttp({
      plugins: [routes],
      http: { idle_timeout_secs: idleSecs },
      admission,
      clock,
      cache: new ResponseCache({ index: { dataVersion: () => 1 }, clock }),
    });
  http = open(1);
});
afterEach(() => http[Symbol.asyncDispose]());

/**
 * A client that sends a request and reads only the first bytes of the response. It asks again if the connection is closed before
 * that: on a busy machine the idle time can pass while the response is made.
 */
async function requestAndStall(path: string, method = "GET"): Promise<Socket> {
  const socket = connect(http.port, "127.0.0.1");
  const started = Promise.withResolvers<boolean>();
  socket.on("data", () => {
    socket.pause();
    started.resolve(true);
  });
  socket.on("error", () => undefined);
  socket.on("close", () => started.resolve(false));
  socket.write(`${method} ${new URL(http.api(path)).pathname} HTTP/1.1\r\nHost: x\r\n\r\n`);
  return (await started.promise) ? socket : requestAndStall(path, method);
}

/** Requests uncompressed bytes: compressed, they would not be large. */
const get = (path: string, init: RequestInit = {}) =>
  fetch(http.api(path), { ...init, headers: { "accept-encoding": "identity", ...init.headers } });

async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1000 && !condition(); turn++) await Bun.sleep(5);
  expect(condition()).toBe(true);
}

test("sends a body of at most 4 MiB whole with an ETag, and streams a larger one without", async () => {
  await http[Symbol.asyncDispose]();
  // Its client shares the thread, which may have to wait for longer than the stalled clients of the other tests.
  http = open(30);
  for (const path of ["/rows", "/pieces"]) {
    const small = await get(`${path}/20`);
    expect(small.headers.get("content-length")).toBe(String((await small.bytes()).byteLength));
    const whole = await get(`${path}/4000`);
    expect(whole.headers.get("etag")).toMatch(/^W\//);
    const rows = (await whole.json()) as { rows: unknown };
    expect(path === "/rows" ? rows.rows : rows).toEqual(rowsOf(4000));
    const streamed = await get(`${path}/9000`);
    expect(streamed.headers.get("etag")).toBeNull();
    expect(streamed.headers.get("cache-control")).toBe("no-store");
    expect(streamed.headers.get("x-content-type-options")).toBe("nosniff");
    const all = (await streamed.json()) as { rows: unknown };
    expect(path === "/rows" ? all.rows : all).toEqual(rowsOf(9000));
    await until(() => unsent.use().held === 0);
  }
});

test("produces a bounded part for a stalled reader, disconnects it after the idle time, and releases its bytes", async () => {
  const socket = await requestAndStall("/endless");
  let made = -1;
  await until(() => {
    const isStill = made === endless.pieces;
    made = endless.pieces;
    return isStill;
  });
  // 3 GB in total. Only the first 4 MiB and the socket buffers of both sides are produced.
  expect(made * 32 * kib).toBeLessThan(32 * mib);
  expect(unsent.use().held).toBeGreaterThan(0);
  expect(unsent.use().held).toBeLessThanOrEqual(2 * mib);
  await endless.ended.promise;
  expect(unsent.use().held).toBe(0);
  socket.destroy();
}, 180_000);

test("with an exhausted budget large responses are 503 with Retry-After and small ones succeed, until it is free again", async () => {
  const others = Array.from({ length: 4 }, (_, n) => unsent.open(`other ${n}`));
  for (const [n, other] of others.entries()) other.grow(64 * mib - (n === 0 ? 600 * kib : 0));
  // What is left to clients who hold little.
  const small = Array.from({ length: 64 }, (_, n) => unsent.open(`small ${n}`));
  for (const other of small) other.grow(mib);
  const byOthers = unsent.use().held;
  // The third comes from the cache.
  for (let n = 0; n < 3; n++) {
    const { rows } = (await (await get("/rows/500")).json()) as { rows: unknown };
    expect(rows).toHaveLength(500);
  }
  await until(() => unsent.use().held === byOthers);
  small.push(unsent.open("one more"));
  small.at(-1)?.grow(300 * kib);
  for (const path of ["/rows/800", "/rows/500", "/pieces/800", "/endless", "/rows/9000"]) {
    const refused = await get(path);
    expect([path, refused.status, refused.headers.get("retry-after")]).toEqual([path, 503, "2"]);
    expect(await refused.json()).toEqual({ message: "too many bytes of responses are in flight; try again" });
  }
  expect((await get("/small")).status).toBe(200);
  expect((await get("/rows/9000", { method: "HEAD" })).status).toBe(503);
  await until(() => unsent.use().held === byOthers + 300 * kib);
  for (const other of [...others, ...small]) other.end();
  expect((await get("/rows/800")).status).toBe(200);
  await until(() => unsent.use().held === 0);
});

test("a client that leaves its share of 64 MiB unread gets 429 for large responses, another one gets them", async () => {
  await http[Symbol.asyncDispose]();
  http = open(1);
  const own = unsent.open("127.0.0.1");
  own.grow(64 * mib - 100 * kib);
  const refused = await get("/rows/500");
  expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toEqual([
    429,
    "2",
    { message: "too many bytes of responses of this client are in flight; try again" },
  ]);
  expect((await get("/small")).status).toBe(200);
  own.end();
  unsent.open("203.0.113.9").grow(64 * mib);
  expect((await get("/rows/500")).status).toBe(200);
});

test("HEAD, 304 and a client that disconnects before the response leave nothing reserved", async () => {
  for (const path of ["/rows/700", "/pieces/700"]) {
    for (let n = 0; n < 5; n++) {
      const head = await get(path, { method: "HEAD" });
      expect(head.status).toBe(200);
      const etag = head.headers.get("etag") ?? "";
      expect((await get(path, { headers: { "if-none-match": etag } })).status).toBe(304);
      const socket = connect(http.port, "127.0.0.1");
      socket.on("error", () => undefined);
      await new Promise<void>((resolve) => socket.on("connect", resolve));
      socket.write(`GET /v2/svc${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      socket.resetAndDestroy();
    }
  }
  await until(() => unsent.use().held === 0);
});

test("a response whose head and body exceed 16 KiB, to a request that has waited, leaves as a stream, which takes two system calls instead of forty", async () => {
  const sender = createBodySender(silentLog);
  await using server = Bun.serve({
    port: 0,
    async fetch(request) {
      await setImmediate();
      const { searchParams } = new URL(request.url);
      if (searchParams.has("late")) respondsLater(request);
      const body = new Uint8Array(Number(searchParams.get("bytes"))).fill(65);
      return sender.whole(request, body, { headers: {} });
    },
  });
  const get = async (query: string) => {
    const response = await fetch(`${server.url}?${query}`);
    return [response.headers.get("transfer-encoding"), (await response.bytes()).length];
  };
  expect(await get("bytes=30000&late")).toEqual(["chunked", 30_000]);
  expect(await get("bytes=30000")).toEqual([null, 30_000]);
  // The head of a response takes 0.9 kB.
  expect(await get("bytes=15600&late")).toEqual(["chunked", 15_600]);
  expect(await get("bytes=10000&late")).toEqual([null, 10_000]);
});
