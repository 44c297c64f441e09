import { heapStats } from "bun:jsc";
import { afterEach, expect, spyOn, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { Elysia } from "elysia";
import { createAdmission } from "../../src/admission/admission.ts";
import { Budget } from "../../src/admission/budget.ts";
import { BUDGETS } from "../../src/admission/budgets.ts";
import { ANONYMOUS } from "../../src/http/caller.ts";
import type { Gate } from "../../src/http/gate.ts";
import { captureBody, rawBody } from "../../src/http/request/body.ts";
import { processDescriptors } from "../../src/runtime/process.ts";
import { type RunHttpOptions, runHttp, UNHURRIED } from "../support/http.ts";
import { sendRaw, statusesOf } from "../support/raw-socket.ts";
import { sampleRoutes } from "./sample-routes.ts";

const KIB = 1024;
/** The address of the test is a trusted proxy, so that a test can be many clients. */
const PROXY = { trusted_proxies: ["127.0.0.0/8"] };
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

function run(options: RunHttpOptions = {}) {
  const admission = createAdmission();
  const httpBodies = new Budget({ unit: "bytes of request bodies", total: 400 * KIB, perClient: 150 * KIB });
  const chunkedBodies = new Budget({ unit: "chunked bodies", total: 100, perClient: 100 });
  const http = runHttp({
    plugins: sampleRoutes(),
    http: PROXY,
    admission: { ...admission, budgets: { ...admission.budgets, httpBodies, chunkedBodies } },
    ...options,
  });
  return { http, budget: httpBodies };
}

/** A server of a process that refuses connections once this many more descriptors are open. */
function runWithDescriptors(more: number) {
  const real = processDescriptors();
  if (real === undefined) throw new Error("the system does not report the limit of descriptors");
  const admission = createAdmission(more);
  const descriptors = { cap: real.open() + more, limit: real.open() + more, open: () => real.open() };
  return { http: runHttp({ plugins: sampleRoutes(), http: PROXY, admission, descriptors }), admission };
}

const headOf = (client: string, length: string, path = "/v2/svc/webhook") =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${client}\r\n${length}\r\n\r\n`;

/** Sends the head of a request and the first bytes of its body, and waits for no response. */
function withhold(port: number, client: string, bytes: number, isChunked = false) {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  let text = "";
  const closed = new Promise<string>((resolve) => {
    socket.on("data", (data) => {
      text += data;
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(text));
  });
  const body = "x".repeat(bytes);
  socket.write(headOf(client, isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${bytes + 1}`));
  socket.write(isChunked ? `${bytes.toString(16)}\r\n${body}\r\n` : body);
  const finish = () => socket.write(isChunked ? "1\r\nx\r\n0\r\n\r\n" : "x");
  return { closed, socket, finish, received: () => text };
}

async function until(condition: () => boolean | Promise<boolean>) {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}

test.each([true, false])(
  "bodies whose last byte is withheld hold at most the share of their client (chunked: %p)",
  async (isChunked) => {
    const { http, budget } = run();
    await using _ = http;
    const hostile = Array.from({ length: 30 }, () =>
      withhold(http.port, "203.0.113.1", 100 * KIB, isChunked),
    );
    const refused = Promise.all(hostile.slice(1).map(({ closed }) => closed));
    // The first one to hold 100 KiB stays; of the others each is refused as soon as it would exceed the share.
    await until(() => budget.use().refused.client >= 29 && budget.use().held === 100 * KIB);
    expect(budget.use()).toMatchObject({ refused: { total: 0 } });

    const response = await fetch(http.api("/webhook"), {
      method: "POST",
      body: JSON.stringify("y".repeat(100 * KIB)),
      headers: { "x-forwarded-for": "203.0.113.2" },
    });
    expect(response.status).toBe(200);
    for (const { finish } of hostile) finish();
    for (const { socket } of hostile) socket.end();
    await refused;
    await until(() => budget.use().held === 0);
  },
);

test("a refused body gets 429 with its client's share, 503 where all bodies hold too much, and the connection closes", async () => {
  const { http, budget } = run();
  await using _ = http;
  const hold = async (client: string) => {
    const before = budget.use().held;
    withhold(http.port, client, 130 * KIB);
    await until(() => budget.use().held === before + 130 * KIB);
  };
  await hold("203.0.113.1");
  const own = await withhold(http.port, "203.0.113.1", 60 * KIB).closed;
  expect(statusesOf(own)).toEqual([429]);
  expect(own.toLowerCase()).toMatch(
    /x-error-code: client_share[\s\S]*retry-after: 2|retry-after: 2[\s\S]*x-error-code: client_share/,
  );
  expect(own.toLowerCase()).toContain("connection: close");
  await hold("203.0.113.2");
  await hold("203.0.113.3");
  const others = await withhold(http.port, "203.0.113.4", 60 * KIB).closed;
  expect(statusesOf(others)).toEqual([503]);
  expect(others).toContain("too many bytes of request bodies are in flight; try again");
});

test("clients whose withheld bodies fill the budget leave room for a small body of another one", async () => {
  const admission = createAdmission();
  const { total, perClient, reservedPerClient } = BUDGETS.httpBodies;
  const terms = { unit: "bytes of request bodies", total: total / 256, perClient: perClient / 256 };
  const httpBodies = new Budget({ ...terms, reservedPerClient: reservedPerClient / 256 });
  await using http = runHttp({
    plugins: sampleRoutes(),
    http: PROXY,
    admission: { ...admission, budgets: { ...admission.budgets, httpBodies } },
  });
  for (const client of ["203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.4"])
    withhold(http.port, client, terms.perClient - 1);
  await until(() => httpBodies.use().held === terms.total - 4);
  const response = await fetch(http.api("/webhook"), {
    method: "POST",
    body: JSON.stringify("y".repeat(100)),
    headers: { "x-forwarded-for": "203.0.113.5" },
  });
  expect(response.status).toBe(200);
});

test("a body whose declared size finds no room is refused before any of it arrives", async () => {
  const { http, budget } = run();
  await using _ = http;
  withhold(http.port, "203.0.113.1", 130 * KIB);
  await until(() => budget.use().held === 130 * KIB);
  const { text } = await sendRaw(http.port, headOf("203.0.113.1", `Content-Length: ${100 * KIB}`));
  expect(statusesOf(text)).toEqual([429]);
  expect(text.toLowerCase()).toContain("connection: close");
  expect(budget.use().held).toBe(130 * KIB);
});

test("refused bodies are read within a share of their client; beyond it only those of up to 64 KiB, and the connection closes", async () => {
  const admission = createAdmission();
  const shares = { ...admission.shares, discards: { perMinute: 0.001, burst: 500 } };
  await using http = runHttp({
    plugins: sampleRoutes(),
    http: PROXY,
    admission: { ...admission, shares },
    bodyPace: UNHURRIED,
  });
  const get = (client: string) =>
    `GET /v2/svc/user?fid=3 HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: ${client}\r\n\r\n`;
  /** A path that takes 32 KiB. */
  const post = async (client: string, bytes: number) => {
    const head = headOf(client, `Content-Length: ${bytes}`, "/v2/svc/frame/app");
    const { text } = await sendRaw(http.port, head + "x".repeat(bytes) + get(client), 2);
    return statusesOf(text);
  };
  expect(await post("203.0.113.1", 564 * KIB)).toEqual([413, 200]);
  // What the server leaves unread may become a reset, which takes the response with it.
  expect([[413], []]).toContainEqual(await post("203.0.113.1", 66 * KIB));
  expect(await post("203.0.113.1", 64 * KIB)).toEqual([413, 200]);
  expect(await post("203.0.113.2", 66 * KIB)).toEqual([413, 200]);
});

test.each([false, true])(
  "a key that its owner ends while the body arrives admits nothing (chunked: %p)",
  async (isChunked) => {
    let isValid = true;
    let admitted = 0;
    const gate: Gate = {
      admit(exchange) {
        admitted++;
        exchange.caller = ANONYMOUS;
        exchange.isStillAdmitted = async () => isValid;
      },
      recordUse: () => undefined,
    };
    const handled: string[] = [];
    const handle = ({ request }: { request: Request }) => {
      handled.push(new TextDecoder().decode(rawBody(request)));
      return {};
    };
    await using http = runHttp({
      plugins: [new Elysia().post("/webhook", handle, { parse: [captureBody] })],
      gate,
    });
    const post = async (change: () => void) => {
      const before = admitted;
      const body = withhold(http.port, "203.0.113.1", 10, isChunked);
      await until(() => admitted > before);
      // A body that arrives sooner is read under the first check of its key.
      await Bun.sleep(150);
      change();
      body.finish();
      await until(() => statusesOf(body.received()).length > 0);
      body.socket.destroy();
      return statusesOf(body.received());
    };
    const whole = "x".repeat(11);
    expect(await post(() => undefined)).toEqual([200]);
    expect(handled).toEqual([whole]);
    expect(
      await post(() => {
        isValid = false;
      }),
    ).toEqual([401]);
    expect(handled).toEqual([whole]);
  },
);

test("a body that stalls is cut with 408, and what it held is free", async () => {
  const { http, budget } = run({ bodyPace: { graceMs: 20, msPerByte: 0 } });
  await using _ = http;
  const text = await withhold(http.port, "203.0.113.1", 10 * KIB).closed;
  expect(statusesOf(text)).toEqual([408]);
  expect(text.toLowerCase()).toContain("connection: close");
  expect(budget.use().held).toBe(0);
});

test("a body of one-byte chunks takes few reads", async () => {
  const { http, budget } = run();
  await using _ = http;
  using read = spyOn(ReadableStreamDefaultReader.prototype, "read");
  const socket = connect(http.port, "127.0.0.1");
  sockets.push(socket);
  socket.write(headOf("203.0.113.1", "Transfer-Encoding: chunked"));
  socket.write("1\r\nx\r\n".repeat(20 * KIB));
  await until(() => budget.use().held === 20 * KIB);
  expect(read.mock.calls.length).toBeLessThan(KIB);
});

test("a body of one-byte chunks takes no memory beyond its bytes", async () => {
  const { http, budget } = run();
  await using _ = http;
  const byteArrays = () => {
    Bun.gc(true);
    return heapStats().objectTypeCounts.Uint8Array ?? 0;
  };
  const socket = connect(http.port, "127.0.0.1");
  sockets.push(socket);
  const before = byteArrays();
  socket.write(headOf("203.0.113.1", "Transfer-Encoding: chunked"));
  socket.write("1\r\nx\r\n".repeat(20 * KIB));
  await until(() => budget.use().held === 20 * KIB);
  expect(byteArrays() - before).toBeLessThan(KIB);
});

test.each([
  ["small parts", [1, 100, 3000, 4095, 4000, 4000, 1]],
  ["large parts", [4096, 20_000, 40_000]],
  ["small and large parts in turn", [1, 5000, 2, 5000, 3, 30_000, 16_384, 1]],
] as const)("a body of %s arrives whole and in order", async (_case, sizes) => {
  const hash = ({ request }: { request: Request }) => ({ hash: `${Bun.hash(rawBody(request))}` });
  await using http = runHttp({
    plugins: [new Elysia().post("/webhook", hash, { parse: [captureBody] })],
  });
  const text = Array.from({ length: sizes.reduce((sum, size) => sum + size, 0) }, (_, at) => at % 10).join(
    "",
  );
  const parts: string[] = [];
  for (let from = 0; from < text.length; from += parts.at(-1)?.length ?? 0)
    parts.push(text.slice(from, from + (sizes[parts.length] ?? text.length)));
  const response = await fetch(http.api("/webhook"), {
    method: "POST",
    duplex: "half",
    body: new ReadableStream({
      async start(controller) {
        for (const part of parts) {
          controller.enqueue(new TextEncoder().encode(part));
          await new Promise((resolve) => setImmediate(resolve));
        }
        controller.close();
      },
    }),
  } as RequestInit);
  expect(await response.json()).toEqual({ hash: `${Bun.hash(text)}` });
});

test("a body that a client aborts frees what it held", async () => {
  const { http, budget } = run();
  await using _ = http;
  const { socket } = withhold(http.port, "203.0.113.1", 50 * KIB);
  await until(() => budget.use().held === 50 * KIB);
  socket.destroy();
  await until(() => budget.use().held === 0);
});

test("slow uploads of one client take an eighth of the descriptors; the others are refused and closed, and others are served", async () => {
  const { http, admission } = runWithDescriptors(400);
  await using _ = http;
  const { uploads } = admission.budgets;
  expect(uploads.terms).toMatchObject({ total: 200, perClient: 50 });
  // Both ends of a connection are in this process: without a share, these are all descriptors up to the cap.
  const slow = Array.from({ length: 210 }, () => withhold(http.port, "203.0.113.1", 1));
  const refused = await Promise.all(slow.slice(50).map(({ closed }) => closed));
  expect(new Set(refused.flatMap(statusesOf))).toEqual(new Set([429]));
  expect(uploads.use()).toEqual({ held: 50, refused: { client: 160, total: 0 } });

  // The burst may have stopped the listener; the share has it accept again while the fifty stay.
  const from = { "x-forwarded-for": "203.0.113.2" };
  const post = () =>
    fetch(http.api("/webhook"), { method: "POST", body: "{}", headers: from }).catch(() => undefined);
  await until(async () => (await post())?.status === 200);
  expect(uploads.use().held).toBe(50);
  for (const { socket } of slow) socket.destroy();
  await until(() => uploads.use().held === 0);
});

test("a node that is short of descriptors closes each connection after its response", async () => {
  await using http = runHttp({
    plugins: sampleRoutes(),
    descriptors: { cap: 100, limit: 100, open: () => 90 },
  });
  await until(async () => (await fetch(http.api("/user?fid=3"))).headers.get("connection") === "close");
});
