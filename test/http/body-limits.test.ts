import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { type RunningHttp, runHttp, UNHURRIED } from "../support/http.ts";
import { sendRaw, statusesOf } from "../support/raw-socket.ts";
import { sampleRoutes } from "./sample-routes.ts";

let http: RunningHttp;
beforeAll(() => {
  http = runHttp({ plugins: sampleRoutes() });
});
afterAll(() => http[Symbol.asyncDispose]());

const kib = 1024;
const limits: [string, number][] = [
  ["/frame/app", 32 * kib],
  ["/frame/app/", 32 * kib],
  ["/frame/webhook/app1", 64 * kib],
  ["/frame/notifications/app1", 1024 * kib],
  ["/webhook", 256 * kib],
  ["/batch/count", 256 * kib],
  ["/webhooks-of-another-kind", 64 * kib],
];

/** A JSON string of exactly this many bytes. */
const jsonOf = (bytes: number) => `"${"x".repeat(bytes - 2)}"`;

/** Sent in chunks, without a Content-Length. */
function chunked(text: string): ReadableStream<Uint8Array> {
  const bytes = Buffer.from(text);
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      if (sent >= bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(sent, sent + 10_000));
      sent += 10_000;
    },
  });
}

describe.each(limits)("%s accepts %d bytes", (path, limit) => {
  test("rejects one byte more, by Content-Length or counted", async () => {
    for (const form of [jsonOf, (bytes: number) => chunked(jsonOf(bytes))]) {
      const within = await fetch(http.api(path), { method: "POST", body: form(limit) });
      expect(await within.json()).toEqual({ bytes: limit });

      const over = await fetch(http.api(path), { method: "POST", body: form(limit + 1) });
      expect(over.status).toBe(413);
      expect(await over.json()).toMatchObject({ message: `request body must be at most ${limit} bytes` });
    }
  });
});

test("rejects a larger body before any of it was sent", async () => {
  await Promise.all(
    limits.map(async ([path, limit]) => {
      const head = `POST /v2/svc${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${limit + 1}\r\n\r\n`;
      const { text } = await sendRaw(http.port, head);
      expect([path, statusesOf(text)]).toEqual([path, [413]]);
      expect(text.toLowerCase()).toContain("connection: close");
    }),
  );
});

test.each([true, false])(
  "a client that sends all of a body before it reads gets 413, not a reset (length declared: %p)",
  async (isDeclared) => {
    await using unhurried = runHttp({ plugins: sampleRoutes(), bodyPace: UNHURRIED });
    const bytes = 300 * kib;
    const piece = "x".repeat(10 * kib);
    const head = isDeclared ? `Content-Length: ${bytes}` : "Transfer-Encoding: chunked";
    const socket = connect(unhurried.port, "127.0.0.1");
    let text = "";
    const ended = new Promise<string>((resolve) => {
      socket.on("error", (cause) => resolve(`${cause}`));
      socket.on("close", () => resolve("closed"));
    });
    socket.on("data", (data) => {
      text += data;
      // The connection stays open, because all of the body has arrived.
      socket.end();
    });
    socket.pause();
    // As a proxy does: it reads the response when its request is out.
    const send = (part: string) =>
      new Promise<void>((resolve) => socket.write(part, () => setTimeout(resolve, 1)));
    await send(`POST /v2/svc/notes HTTP/1.1\r\nHost: localhost\r\n${head}\r\n\r\n`);
    for (let sent = 0; sent < bytes; sent += piece.length)
      await send(isDeclared ? piece : `${piece.length.toString(16)}\r\n${piece}\r\n`);
    if (!isDeclared) await send("0\r\n\r\n");
    socket.resume();
    expect([await ended, statusesOf(text)]).toEqual(["closed", [413]]);
  },
);

test("rejects a Content-Length of 10^15 at once", async () => {
  const { text } = await sendRaw(
    http.port,
    `POST /v2/svc/notes HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${10 ** 15}\r\n\r\n`,
  );
  expect(statusesOf(text)).toEqual([413]);
});

test.each([
  ["equal", 2, 2],
  ["different", 2, 3],
  ["different", 3, 2],
])("rejects two %s Content-Length headers and closes the connection", async (_, first, second) => {
  const head = `POST /v2/svc/notes HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${first}\r\nContent-Length: ${second}\r\n\r\n`;
  const { text } = await sendRaw(http.port, `${head}{}`);
  expect(statusesOf(text)).toEqual([400]);
});

test("stops reading an endless body at the limit", async () => {
  let sent = 0;
  const endless = new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(16 * kib));
      sent += 16 * kib;
    },
  });
  const response = await fetch(http.api("/notes"), { method: "POST", body: endless });
  expect(response.status).toBe(413);
  // The socket buffers of both sides are filled before the response arrives.
  expect(sent).toBeLessThan(16 * kib * kib);
});

const withoutBody = (method: string, path: string) =>
  sendRaw(http.port, `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50000000\r\n\r\n`);

test.each([
  ["POST", "/v2/svc/cast", 501],
  ["DELETE", "/v2/svc/cast/", 501],
  ["GET", "/v2/svc/user?fid=3", 200],
  ["GET", "/health", 200],
  ["POST", "/v2/svc/user", 404],
  ["POST", "/nowhere", 404],
  ["OPTIONS", "/v2/svc/notes", 204],
])(
  "%s %s responds without waiting for a large body, and closes the connection",
  async (method, path, status) => {
    const { text } = await withoutBody(method, path);
    expect(statusesOf(text)).toEqual([status]);
    expect(text.toLowerCase()).toContain("connection: close");
  },
);

test("does not parse an unread body as the next request", async () => {
  const body = "GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const { text } = await sendRaw(
    http.port,
    `POST /v2/svc/cast HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}` +
      "GET /v2/svc/user?fid=3 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    2,
  );
  expect(statusesOf(text)).toEqual([501, 200]);
});
