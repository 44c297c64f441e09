import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { IS_LONG } from "../support/long.ts";
import { DEFAULT_TIMESTAMP, signedCast } from "../support/messages.ts";
import { accountSigner } from "../support/node.ts";
import { SseClient, startTestStreams, type TestStreams, textIn } from "../support/streams.ts";

const EVENTS = 2000;
/** Each character takes six in JSON, so that few events fill the buffers of the kernel. */
const TEXT = "\u0001".repeat(310);

let bench: TestStreams;
beforeAll(() => {
  bench = startTestStreams({
    deps: {
      timings: { keepAliveMs: 60_000, stallMs: 300 },
      tickMs: 50,
      // Fewer than a slow reader leaves, so that it reads on from the log.
      tailLimits: { events: 500 },
    },
    http: { idle_timeout_secs: 10 },
  });
});
afterAll(() => bench[Symbol.asyncDispose]());

function casts(from: number, count: number): void {
  for (let at = from; at < from + count; at += 500) {
    const messages = Array.from({ length: 500 }, (_, n) =>
      signedCast(1, `${at + n} ${TEXT}`, accountSigner(1), {
        timestamp: DEFAULT_TIMESTAMP - 600 + Math.floor((at + n) / 20),
      }),
    );
    const codes = bench.node.ingestAll(messages.map((bytes) => ({ kind: "message", bytes })));
    expect(new Set(codes)).toEqual(new Set(["ok"]));
  }
}

/** The numbers of the casts in a text of frames, and of frames `error` their data. */
function read(text: string): { numbers: number[]; errors: { code: string; cursor: string }[] } {
  const data = (event: string) =>
    [...text.matchAll(new RegExp(`event: ${event}\ndata: (.*)\n\n`, "g"))].map(([, json = ""]) =>
      JSON.parse(json),
    );
  return {
    numbers: data("cast.created").map((body) => Number(body.data.text.split(" ")[0])),
    errors: data("error"),
  };
}

/** How long the clients take no byte after their stream has ended; they still get what is left. */
const PAUSE_MS = IS_LONG ? 60_000 : 0;
const TIMEOUT_MS = 60_000 + PAUSE_MS;

const untilEnded = async (reason: "slow_consumer", count: number) => {
  while (bench.streams.stats().ended[reason] < count) await Bun.sleep(10);
};

describe("a client that stops reading", () => {
  test(
    "is ended with its position over server-sent events, and resumes without loss",
    async () => {
      const socket: Socket = connect(bench.http.port, "127.0.0.1");
      const first = Promise.withResolvers<void>();
      let received = "";
      socket.setEncoding("utf8");
      socket.on("data", (text) => {
        received += text;
        if (received.includes("event: hello")) {
          socket.pause();
          first.resolve();
        }
      });
      socket.write("GET /v2/svc/stream?kinds=cast.created HTTP/1.1\r\nhost: x\r\n\r\n");
      await first.promise;
      casts(0, EVENTS);
      await untilEnded("slow_consumer", 1);
      // The end of what was handed out waits for the client, and counts until it is sent.
      expect(bench.unsent.use().held).toBeWithin(1, 200_000);
      await Bun.sleep(PAUSE_MS);
      socket.removeAllListeners("data");
      const closed = Promise.withResolvers<void>();
      socket.on("data", (text) => {
        received += text;
        if (received.endsWith("0\r\n\r\n")) closed.resolve();
      });
      socket.on("close", () => closed.resolve());
      socket.resume();
      await closed.promise;
      socket.destroy();
      const { numbers, errors } = read(received.replaceAll(/\r\n[0-9a-f]+\r\n/g, ""));
      expect(errors).toMatchObject([{ code: "slow_consumer" }]);
      expect(numbers.length).toBeGreaterThan(100);
      expect(numbers.length).toBeLessThan(EVENTS);
      await using client = await SseClient.open(bench.url(`kinds=cast.created&cursor=${errors[0]?.cursor}`));
      const rest = await client.events(EVENTS - numbers.length);
      const all = [...numbers, ...rest.map((frame) => Number(textIn(frame).split(" ")[0]))];
      expect(all).toEqual(Array.from({ length: EVENTS }, (_, n) => n));
    },
    TIMEOUT_MS,
  );

  test(
    "is ended with its position over a WebSocket, and memory is bounded meanwhile",
    async () => {
      const head = EVENTS;
      const socket: Socket = connect(bench.http.port, "127.0.0.1");
      const first = Promise.withResolvers<void>();
      let received = Buffer.alloc(0);
      const take = (bytes: Buffer) => {
        received = Buffer.concat([received, bytes]);
      };
      socket.on("data", (bytes: Buffer) => {
        take(bytes);
        if (!received.includes('"event":"hello"')) return;
        socket.pause();
        first.resolve();
      });
      socket.write(
        "GET /v2/svc/stream?kinds=cast.created HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n" +
          "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
      );
      await first.promise;
      casts(head, EVENTS);
      await untilEnded("slow_consumer", 2);
      // The end of what was handed out waits for the client, and counts until it is sent.
      expect(bench.unsent.use().held).toBeWithin(1, 200_000);
      await Bun.sleep(PAUSE_MS);
      socket.removeAllListeners("data");
      const closed = Promise.withResolvers<void>();
      socket.on("data", (bytes: Buffer) => {
        take(bytes);
        if (messagesIn(received).closeCode !== undefined) closed.resolve();
      });
      socket.on("close", () => closed.resolve());
      socket.resume();
      await closed.promise;
      socket.destroy();
      const { texts, closeCode } = messagesIn(received);
      expect(closeCode).toBe(4008);
      const frames = texts.map((text) => JSON.parse(text));
      const error = frames.at(-1);
      expect(error).toMatchObject({ event: "error", data: { code: "slow_consumer" } });
      const seen = frames.filter(({ event }) => event === "cast.created").length;
      expect(seen).toBeGreaterThan(100);
      await using client = await SseClient.open(bench.url(`kinds=cast.created&cursor=${error.data.cursor}`));
      const [next] = await client.events(1);
      expect(next && Number(textIn(next).split(" ")[0])).toBe(head + seen);
    },
    TIMEOUT_MS,
  );
});

/** The texts of unmasked WebSocket frames after a response head, and the code of the closing frame. */
function messagesIn(bytes: Buffer): { texts: string[]; closeCode: number | undefined } {
  const texts: string[] = [];
  for (let at = bytes.indexOf("\r\n\r\n") + 4; at + 2 <= bytes.length; ) {
    const opcode = bytes.readUInt8(at) & 15;
    const short = bytes.readUInt8(at + 1);
    const head = short === 127 ? 10 : short === 126 ? 4 : 2;
    if (at + head > bytes.length) break;
    const length =
      short === 127
        ? Number(bytes.readBigUInt64BE(at + 2))
        : short === 126
          ? bytes.readUInt16BE(at + 2)
          : short;
    if (at + head + length > bytes.length) break;
    const payload = bytes.subarray(at + head, at + head + length);
    if (opcode === 8) return { texts, closeCode: payload.readUInt16BE(0) };
    if (opcode === 1) texts.push(payload.toString("utf8"));
    at += head + length;
  }
  return { texts, closeCode: undefined };
}
