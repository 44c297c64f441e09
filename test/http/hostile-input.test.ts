import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type RunningHttp, runHttp } from "../support/http.ts";
import { sendRaw, statusesOf } from "../support/raw-socket.ts";
import { brokenRoutes, sampleRoutes } from "./sample-routes.ts";

let http: RunningHttp;
beforeAll(() => {
  http = runHttp({ plugins: [...sampleRoutes(), brokenRoutes()] });
});
afterAll(() => http[Symbol.asyncDispose]());

const notes = "POST /v2/svc/notes HTTP/1.1\r\nHost: localhost\r\n";

describe("a request that is not HTTP is 400 and closes the connection", () => {
  test.each([
    ["a length that is no number", `${notes}Content-Length: abc\r\n\r\n{}`],
    ["a negative length", `${notes}Content-Length: -2\r\n\r\n{}`],
    ["a length beyond any number", `${notes}Content-Length: 99999999999999999999999\r\n\r\n{}`],
    ["two lengths", `${notes}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}}`],
    ["a length and chunks", `${notes}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ["no host", "GET /health HTTP/1.1\r\n\r\n"],
    ["bytes", "\x00\x01\x02\x03\r\n\r\n"],
    ["a target of no form", "GET health HTTP/1.1\r\nHost: localhost\r\n\r\n"],
  ])("%s", async (_name, bytes) => {
    const { text } = await sendRaw(http.port, bytes);
    expect(statusesOf(text)).toEqual([400]);
    expect(text.toLowerCase()).toContain("connection: close");
  });
});

test("closes the connection at an invalid chunk, without a fault", async () => {
  const { text, closed } = await sendRaw(http.port, `${notes}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n`);
  expect(statusesOf(text).every((status) => status === 400)).toBe(true);
  expect(closed || text !== "").toBe(true);
  expect(http.logLines.filter((line) => ["error", "fatal"].includes(String(line.level)))).toEqual([]);
});

test("a client that disconnects in the middle of its body causes no fault", async () => {
  const path = "/v2/svc/frame/notifications/hangs-up";
  const socket = await Bun.connect({ hostname: "127.0.0.1", port: http.port, socket: { data() {} } });
  socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc`);
  socket.flush();
  socket.end();
  const route = "/v2/svc/frame/notifications/:app_id";
  while (!http.logLines.some((line) => line.route === route)) await Bun.sleep(1);
  expect(http.logLines.find((line) => line.route === route)).toMatchObject({ status: 400, level: "info" });
});

test.each([
  ["a query of 1 MB", `GET /v2/svc/user?fid=${"1".repeat(1 << 20)} HTTP/1.1\r\nHost: localhost\r\n\r\n`],
  ["a path of 1 MB", `GET /${"a/".repeat(1 << 19)} HTTP/1.1\r\nHost: localhost\r\n\r\n`],
  ["headers of 1 MB", `GET /health HTTP/1.1\r\nHost: localhost\r\nx: ${"a".repeat(1 << 20)}\r\n\r\n`],
])("%s is a clean 4xx", async (_name, bytes) => {
  const { text } = await sendRaw(http.port, bytes);
  expect(statusesOf(text)).toEqual([431]);
});

test("handles the longest accepted query quickly", async () => {
  for (const query of [
    `fid=${"1".repeat(12_000)}`,
    "a&".repeat(6000),
    `fids=${"1,".repeat(6000)}`,
    "%25".repeat(4000),
  ]) {
    const { text } = await sendRaw(
      http.port,
      `GET /v2/svc/user/bulk?${query} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    );
    expect(statusesOf(text)).toEqual([400]);
    expect(text).toContain('{"message":"');
  }
});

/** Bun closes a connection when one of its pipelined requests has to wait; the client repeats those without a response (RFC 9112, 9.3.2). */
test("responds to pipelined requests in their order, or ends the connection after the last response", async () => {
  const paths = [
    "/v2/svc/user/bulk?fids=1",
    "/v2/svc/user?fid=2",
    "/nowhere",
    "/v2/svc/throws",
    "/v2/svc/user?fid=5",
  ];
  let text = "";
  for (let left = paths; left.length > 0; left = paths.slice(statusesOf(text).length)) {
    const bytes = left.map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join("");
    const sent = await sendRaw(http.port, bytes, left.length);
    expect(sent.closed || statusesOf(sent.text).length === left.length).toBe(true);
    text += sent.text;
  }
  expect(statusesOf(text)).toEqual([200, 200, 404, 500, 200]);
  expect([...text.matchAll(/"fid":(\d)/g)].map((match) => match[1])).toEqual(["1", "2", "5"]);
});

/** docs/operate/capacity.md says so. Once this fails, Bun waits, and the sentence there goes. */
test("Bun itself ends a connection on which a request follows one that has no response yet", async () => {
  await using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      await new Promise((resolve) => setImmediate(resolve));
      return new Response(await request.text());
    },
  });
  const post = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx";
  const port = server.port ?? 0;
  expect(statusesOf((await sendRaw(port, post)).text)).toEqual([200]);
  expect(await sendRaw(port, `${post}GET / HTTP/1.1\r\nHost: x\r\n\r\n`, 2)).toEqual({
    text: "",
    closed: true,
  });
});

test("no path and no query causes a fault", async () => {
  const piece = fc.constantFrom(
    "/v2/svc/user",
    "/v2/svc/items/",
    "/",
    "//",
    "?",
    "&",
    "=",
    "fid",
    "fids",
    "1",
    ",",
    "%",
    "%2",
    "%zz",
    "%ff",
    "%00",
    "+",
    "[",
    "]",
    "{}",
    "__proto__",
    "..",
    "#",
    "é",
    "\x7f",
    ";",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 10 }), async (pieces) => {
      const target = `/${pieces.join("")}`;
      const { text } = await sendRaw(http.port, `GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      expect([200, 400, 404]).toContain(statusesOf(text)[0] ?? 0);
    }),
    { numRuns: 300 },
  );
});
