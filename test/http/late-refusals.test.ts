import { expect, spyOn, test } from "bun:test";
import { connect } from "node:net";
import { createAdmission } from "../../src/admission/admission.ts";
import { budgetsWithin } from "../../src/admission/budgets.ts";
import { ANONYMOUS } from "../../src/http/caller.ts";
import { ApiError } from "../../src/http/errors.ts";
import type { Exchange } from "../../src/http/exchange.ts";
import type { Gate } from "../../src/http/gate.ts";
import { createLateRefusals } from "../../src/http/limits/late-refusals.ts";

import { runHttp } from "../support/http.ts";
import { sendRaw, statusesOf } from "../support/raw-socket.ts";
import { sampleRoutes } from "./sample-routes.ts";

const AT_ONCE = 2;
/** Longer than any test. */
const NEVER_MS = 1e9;

const headOf = (client: string, method = "GET", fields = "") =>
  `${method} /v2/svc/user?fid=3 HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${client}\r\n${fields}\r\n`;

/** A server that refuses a client with 429, which may have two refusals at once. */
function run({ lateRefusalMs, perClient = 10 }: { lateRefusalMs: number; perClient?: number }) {
  const counts = createAdmission(1e6);
  const { lateRefusals } = createAdmission(perClient * 8).budgets;
  const admission = {
    ...counts,
    budgets: { ...counts.budgets, lateRefusals },
    shares: { ...counts.shares, refusals: { perMinute: 0.001, burst: AT_ONCE } },
  };
  const gate: Gate = {
    admit({ client }) {
      if (client().address === "203.0.113.1") throw new ApiError("tooManyRequests");
    },
    recordUse: () => undefined,
  };
  const http = runHttp({
    plugins: sampleRoutes(),
    http: { trusted_proxies: ["127.0.0.0/8"] },
    admission,
    gate,
    lateRefusalMs,
  });
  return { http, lateRefusals };
}

test("refusals beyond a client's share are sent late, and other clients' responses are not", async () => {
  const { http, lateRefusals } = run({ lateRefusalMs: NEVER_MS });
  await using _ = http;
  const call = (client: string, signal?: AbortSignal) =>
    fetch(http.api("/user?fid=3"), { headers: { "x-forwarded-for": client }, signal: signal ?? null });
  for (let n = 0; n < AT_ONCE; n += 1) expect((await call("203.0.113.1")).status).toBe(429);
  const aborted = new AbortController();
  const late = Array.from({ length: 3 }, () => call("203.0.113.1", aborted.signal));
  for (let n = 0; n < 20; n += 1) expect((await call("203.0.113.2")).status).toBe(200);
  expect(lateRefusals.use().held).toBe(3);
  aborted.abort();
  expect((await Promise.allSettled(late)).map(({ status }) => status)).toEqual(Array(3).fill("rejected"));
});

test("late refusals of a client may take an eighth of the descriptors, and no more than 8,192", () => {
  const termsOf = (descriptors: number) => {
    const { total, perClient } = budgetsWithin(descriptors).lateRefusals;
    return [total, perClient];
  };
  expect([700, 1e6].map(termsOf)).toEqual([
    [175, 88],
    [16_384, 8_192],
  ]);
});

test("a client whose late refusals have no room is refused at once", async () => {
  const { http, lateRefusals } = run({ lateRefusalMs: NEVER_MS, perClient: 1 });
  await using _ = http;
  const aborted = new AbortController();
  const { signal } = aborted;
  const call = () =>
    fetch(http.api("/user?fid=3"), { headers: { "x-forwarded-for": "203.0.113.1" }, signal });
  for (let n = 0; n < AT_ONCE; n += 1) expect((await call()).status).toBe(429);
  const late = call();
  while (lateRefusals.use().held === 0) await new Promise((resolve) => setImmediate(resolve));
  for (let n = 0; n < 20; n += 1) expect((await call()).status).toBe(429);
  aborted.abort();
  await expect(late).rejects.toThrow();
});

test("no refusal of a client with 600 connections is sent at once, and others are served meanwhile", async () => {
  const { http, lateRefusals } = run({ lateRefusalMs: NEVER_MS, perClient: 1e5 });
  await using _ = http;
  for (let n = 0; n < AT_ONCE; n += 1) await sendRaw(http.port, headOf("203.0.113.1"), 1);
  const sockets = Array.from({ length: 600 }, () => {
    const socket = connect(http.port, "127.0.0.1");
    socket.on("connect", () => socket.write(headOf("203.0.113.1")));
    socket.on("error", () => undefined);
    return socket;
  });
  while (lateRefusals.use().held < sockets.length) await new Promise((resolve) => setImmediate(resolve));
  expect(lateRefusals.use()).toEqual({ held: 600, refused: { client: 0, total: 0 } });
  const other = await fetch(http.api("/user?fid=3"), { headers: { "x-forwarded-for": "203.0.113.2" } });
  expect(other.status).toBe(200);
  for (const socket of sockets) socket.destroy();
});

test("the more refusals of a client wait on a thread, the later the next one is, and no two are sent at once; then it resets", async () => {
  const { budgets, buckets } = createAdmission(1e6);
  const shares = { ...createAdmission().shares, refusals: { perMinute: 0.001, burst: 1 } };
  const refuse = createLateRefusals({ budgets, buckets, shares }, 100);
  const exchangeOf = (bucket: string) =>
    ({ caller: ANONYMOUS, client: () => ({ bucket }), request: new Request("http://x/") }) as Exchange;
  const delays: number[] = [];
  let sent = Promise.withResolvers<void>();
  using _ = spyOn(Bun, "sleep").mockImplementation((ms) => {
    delays.push(Number(ms));
    return sent.promise;
  });
  const late = (bucket: string) => refuse(exchangeOf(bucket), new Response());
  for (const bucket of ["a", "b"]) expect(late(bucket)).toBeInstanceOf(Response);
  const waiting = Array.from({ length: 1_536 }, () => late("a"));
  waiting.push(late("b"));
  expect([0, 256, 512, 1_024, 1_536].map((at) => delays[at])).toEqual([100, 150, 200, 300, 100]);
  // Those of one moment would bring all their connections back in one turn of the event loop.
  expect(new Set(delays.slice(0, 1_536)).size).toBe(1_536);
  sent.resolve();
  await Promise.all(waiting);
  expect(budgets.lateRefusals.use().held).toBe(0);
  sent = Promise.withResolvers();
  void late("a");
  expect(delays.at(-1)).toBe(100);
});

/** Sends requests on one connection, each after the response to the one before, until it closes. */
async function sendInTurn(port: number, request: string, count: number): Promise<string> {
  let text = "";
  let sent = 0;
  const done = Promise.withResolvers<void>();
  const socket = connect(port, "127.0.0.1");
  const next = () => {
    sent += 1;
    if (sent > count) done.resolve();
    else socket.write(request);
  };
  socket.on("connect", next);
  socket.on("data", (data) => {
    text += data;
    next();
  });
  socket.on("close", () => done.resolve());
  await done.promise;
  socket.destroy();
  return text;
}

test.each([
  ["without a body", "GET", "", 4],
  ["with a small body", "POST", "x".repeat(1_000), 4],
  // Bun would read all of it before the next request.
  ["with a large body", "POST", "x".repeat(100_000), 1],
] as const)(
  "late refusals of requests %s arrive as those at once, and free what they held",
  async (_case, method, body, responses) => {
    const { http, lateRefusals } = run({ lateRefusalMs: 1 });
    await using _ = http;
    const head = headOf("203.0.113.1", method, body === "" ? "" : `Content-Length: ${body.length}\r\n`);
    for (let n = 0; n < AT_ONCE; n += 1) await sendRaw(http.port, headOf("203.0.113.1"), 1);
    const text = await sendInTurn(http.port, head + body, 4);
    expect(statusesOf(text)).toEqual(Array(responses).fill(429));
    expect(/connection: close/i.test(text)).toBe(responses === 1);
    expect(lateRefusals.use()).toEqual({ held: 0, refused: { client: 0, total: 0 } });
  },
);
