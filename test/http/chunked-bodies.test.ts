import { expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { type AnyElysia, Elysia } from "elysia";
import { createAdmission } from "../../src/admission/admission.ts";
import { captureBody } from "../../src/http/request/body.ts";
import { type RunHttpOptions, runHttp, UNHURRIED } from "../support/http.ts";
import { sampleRoutes } from "./sample-routes.ts";

const ATTACKER = "203.0.113.1";
const headOf = (client: string, path: string) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${client}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n`;
/** Chunks of one byte. Bun's parser takes a hundred times longer for each byte of them than for one of a body with a length. */
const crumbs = (count: number) => "1\r\nx\r\n".repeat(count);

function run(plugins: readonly AnyElysia[] = sampleRoutes(), options: RunHttpOptions = {}) {
  const admission = createAdmission();
  const http = runHttp({
    plugins,
    http: { trusted_proxies: ["127.0.0.0/8"] },
    admission: { ...admission, shares: { ...admission.shares, chunks: { perMinute: 0.001, burst: 100 } } },
    lateRefusalMs: 1e9,
    ...options,
  });
  return { http, use: () => admission.budgets.chunkedBodies.use() };
}

function open(port: number, client: string, path = "/v2/svc/webhook") {
  const socket: Socket = connect(port, "127.0.0.1");
  const closed = new Promise<string>((resolve) => {
    let text = "";
    socket.on("data", (data) => {
      text += data;
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(text));
  });
  socket.write(headOf(client, path));
  return { socket, closed };
}

test("at most eight chunked bodies of a client arrive at a time; others are refused at once, and their connections close", async () => {
  const { http, use } = run();
  await using _ = http;
  const arriving = Array.from({ length: 8 }, () => open(http.port, ATTACKER));
  while (use().held < 8) await new Promise((resolve) => setImmediate(resolve));
  const refused = await Promise.all(Array.from({ length: 200 }, () => open(http.port, ATTACKER).closed));
  for (const text of refused) {
    expect(text).toStartWith("HTTP/1.1 429");
    expect(text).toContain("too many request bodies without a Content-Length of this client are in flight");
    expect(text.toLowerCase()).toContain("connection: close");
  }
  const own = open(http.port, "203.0.113.2");
  own.socket.write('3\r\n"a"\r\n0\r\n\r\n');
  expect(await own.closed).toStartWith("HTTP/1.1 200");
  for (const { socket } of arriving) socket.destroy();
  while (use().held > 0) await new Promise((resolve) => setImmediate(resolve));
});

test("a chunked body has its place until it is read, not until the response", async () => {
  const responding = Promise.withResolvers<void>();
  let read = 0;
  const respond = async () => {
    read += 1;
    await responding.promise;
    return {};
  };
  const { http, use } = run([new Elysia().post("/webhook", respond, { parse: captureBody })]);
  await using _ = http;
  const sent: ReturnType<typeof open>[] = [];
  for (let n = 1; n <= 20; n += 1) {
    const one = open(http.port, ATTACKER);
    one.socket.write('3\r\n"a"\r\n0\r\n\r\n');
    sent.push(one);
    while (read < n) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(use()).toEqual({ held: 0, refused: { client: 0, total: 0 } });
  responding.resolve();
  for (const { closed } of sent) expect(await closed).toStartWith("HTTP/1.1 200");
});

test("a chunked body that no route reads frees its place with the response", async () => {
  const { http, use } = run();
  await using _ = http;
  const { socket, closed } = open(http.port, ATTACKER, "/nothing");
  socket.write("1\r\nx\r\n");
  expect(await closed).toStartWith("HTTP/1.1 404");
  expect(use().held).toBe(0);
});

test("chunked bodies are read within a share of their client, also refused ones; bodies with a length do not count", async () => {
  const { http, use } = run();
  await using _ = http;
  const { socket, closed } = open(http.port, ATTACKER);
  // A fifth of a megabyte, which the route takes, where the share has a tenth.
  socket.write(crumbs(200_000));
  expect(await closed).toContain("too many request bodies without a Content-Length");
  expect(use().held).toBe(0);
  // Nothing is left, and the debt for what was read is not either.
  for (let n = 0; n < 3; n += 1) expect(await open(http.port, ATTACKER).closed).toStartWith("HTTP/1.1 429");
  const post = (client: string, body: string) =>
    fetch(http.api("/webhook"), { method: "POST", body, headers: { "x-forwarded-for": client } });
  expect((await post(ATTACKER, JSON.stringify("y".repeat(200_000)))).status).toBe(200);
});

test("what is read of a chunked body after its refusal counts, too", async () => {
  // However long the machine takes to read it.
  const { http } = run(sampleRoutes(), { bodyPace: UNHURRIED });
  await using _ = http;
  // A path that takes 32 KiB.
  const { socket, closed } = open(http.port, ATTACKER, "/v2/svc/frame/app");
  socket.write(crumbs(300_000));
  expect(await closed).toStartWith("HTTP/1.1 413");
  expect(await open(http.port, ATTACKER).closed).toStartWith("HTTP/1.1 429");
});

test("a refused body that is being discarded is not cut as if it had stalled before", async () => {
  const { http } = run(sampleRoutes(), { bodyPace: { ...UNHURRIED, graceMs: 2000, msPerByte: 0 } });
  await using _ = http;
  const refused = open(http.port, ATTACKER, "/v2/svc/frame/app");
  refused.socket.write(crumbs(40_000));
  let isOpen = true;
  void refused.closed.then(() => {
    isOpen = false;
  });
  // Cut after the same grace, which began later.
  expect(await open(http.port, "203.0.113.2").closed).toStartWith("HTTP/1.1 408");
  expect(isOpen).toBe(true);
  refused.socket.write("0\r\n\r\n");
  expect(await refused.closed).toStartWith("HTTP/1.1 413");
});

test("sixty chunked bodies of ten clients that arrive at one moment, while the thread is busy, are all taken", async () => {
  let calls = 0;
  const respond = () => {
    // The first request keeps the thread busy while the others arrive.
    if (calls++ === 0) Bun.sleepSync(50);
    return {};
  };
  const { http, use } = run([new Elysia().post("/webhook", respond, { parse: captureBody })]);
  await using _ = http;
  const sent = Array.from({ length: 60 }, (_, n) => open(http.port, `203.0.113.${n % 10}`));
  for (const { socket } of sent) socket.write('3\r\n"a"\r\n0\r\n\r\n');
  for (const { closed } of sent) expect(await closed).toStartWith("HTTP/1.1 200");
  expect(use()).toEqual({ held: 0, refused: { client: 0, total: 0 } });
});
