import { expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import { RetryableError, UserError } from "../../../src/lib/failure.ts";
import { resumingRead } from "../../../src/net/objects/resuming-read.ts";
import type { RetryPolicy } from "../../../src/net/objects/retry-calls.ts";

const CONTENT = Buffer.from(Uint8Array.from({ length: 5000 }, (_, at) => (at * 7919) % 251));
const UNENDING = new AbortController().signal;
const QUICK: RetryPolicy = { maxFailures: 4, initialDelayMs: 1, maxDelayMs: 1, stallMs: 60_000 };

interface Answer {
  /** Bytes of the content, after which the connection is cut, once the reader has them. */
  readonly bytes: number;
  /** Instead of the cut, nothing more arrives. */
  readonly isSilent?: boolean;
  /** Not even a head arrives. */
  readonly isMute?: boolean;
  readonly etag?: string;
  /** Sends the whole file, whatever the range. */
  readonly hasNoRanges?: boolean;
  readonly status?: number;
}

/** A web server that ends its responses in the middle of what they state. `respond` says how, by the number of the request. */
async function startCuttingServer(respond: (request: number) => Answer) {
  const ranges: (string | undefined)[] = [];
  const sockets = new Set<Socket>();
  let cutsAt = Number.POSITIVE_INFINITY;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", (head) => {
      const range = /^range: (.*)\r$/im.exec(head.toString())?.[1];
      const {
        bytes,
        isSilent = false,
        isMute,
        etag = '"a"',
        hasNoRanges = false,
        status,
      } = respond(ranges.length);
      ranges.push(range);
      if (isMute) return;
      const start = hasNoRanges ? 0 : Number(/^bytes=(\d+)-$/.exec(range ?? "")?.[1] ?? 0);
      const isPart = range !== undefined && !hasNoRanges;
      const lines = [
        `HTTP/1.1 ${status ?? (isPart ? 206 : 200)} Any`,
        `content-length: ${status === undefined ? CONTENT.length - start : 0}`,
        `etag: ${etag}`,
        ...(isPart ? [`content-range: bytes ${start}-${CONTENT.length - 1}/${CONTENT.length}`] : []),
      ];
      socket.write(`${lines.join("\r\n")}\r\n\r\n`);
      socket.write(CONTENT.subarray(start, start + bytes));
      cutsAt = isSilent ? Number.POSITIVE_INFINITY : start + bytes;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { readonly port: number };
  const read = async (policy: Partial<RetryPolicy> = {}) => {
    const open = (headers: Readonly<Record<string, string>>, signal: AbortSignal) =>
      fetch(`http://127.0.0.1:${port}/file`, { headers, signal, keepalive: false });
    const options = { policy: { ...QUICK, ...policy }, signal: UNENDING };
    let found = Buffer.alloc(0);
    for await (const chunk of resumingRead("the file", open, options)) {
      found = Buffer.concat([found, chunk]);
      if (found.length >= cutsAt) for (const socket of sockets) socket.destroy();
    }
    return found;
  };
  return {
    ranges,
    read,
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

test("a read continues at the byte where its connection was cut", async () => {
  using server = await startCuttingServer(() => ({ bytes: 1300 }));
  expect(await server.read()).toEqual(CONTENT);
  expect(server.ranges).toEqual([undefined, "bytes=1300-", "bytes=2600-", "bytes=3900-"]);
});

test("a read asks again where no response begins", async () => {
  using server = await startCuttingServer((request) => ({ bytes: CONTENT.length, isMute: request === 0 }));
  expect(await server.read({ stallMs: 300, maxFailures: 1000 })).toEqual(CONTENT);
  expect(server.ranges.length).toBeGreaterThan(1);
});

test("a read continues where nothing arrives any more", async () => {
  using server = await startCuttingServer((request) => ({ bytes: 2500, isSilent: request === 0 }));
  // On a busy machine later responses may take as long.
  expect(await server.read({ stallMs: 300, maxFailures: 1000 })).toEqual(CONTENT);
  expect(server.ranges.length).toBeGreaterThan(1);
});

test("a read skips what a server without ranges sends again", async () => {
  using server = await startCuttingServer((request) => ({ bytes: (request + 1) * 2000, hasNoRanges: true }));
  expect(await server.read()).toEqual(CONTENT);
});

test("a read refuses a file that has changed meanwhile, and continues after errors of the server", async () => {
  using server = await startCuttingServer((request) => ({ bytes: 2000, etag: request > 1 ? '"b"' : '"a"' }));
  const refused = await server.read().catch((cause: unknown) => cause);
  expect(refused).toBeInstanceOf(UserError);
  expect(String(refused)).toContain("the file has changed while it was read");
  using busy = await startCuttingServer((request) =>
    request % 2 === 1 ? { bytes: 0, status: 503 } : { bytes: 2000 },
  );
  expect(await busy.read()).toEqual(CONTENT);
});

test("a read gives up after consecutive failures that brought no byte", async () => {
  using server = await startCuttingServer((request) =>
    request === 0 ? { bytes: 100 } : { bytes: 0, status: 503 },
  );
  await expect(server.read()).rejects.toThrow(RetryableError);
  expect(server.ranges).toHaveLength(QUICK.maxFailures);
});

async function readAll(
  open: (headers: Readonly<Record<string, string>>) => Promise<Response>,
  signal: AbortSignal = UNENDING,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of resumingRead("the file", open, { policy: QUICK, signal })) chunks.push(chunk);
  return Buffer.concat(chunks);
}

test("a read continues where a response ends without an error before the end of the file", async () => {
  const ranges: (string | undefined)[] = [];
  const open = async ({ range }: Readonly<Record<string, string>>) => {
    ranges.push(range);
    const from = Number(/^bytes=(\d+)-$/.exec(range ?? "")?.[1] ?? 0);
    const headers = { etag: '"a"', "content-range": `bytes ${from}-4999/5000`, "content-length": "5000" };
    const body = new Blob([CONTENT.subarray(from, from + 3000)]).stream();
    return new Response(body, { status: range === undefined ? 200 : 206, headers });
  };
  expect(await readAll(open)).toEqual(CONTENT);
  expect(ranges).toEqual([undefined, "bytes=3000-"]);
});

test("a read skips the chunks that a server without ranges sends again, each of them", async () => {
  const chunks = Array.from({ length: 10 }, (_, at) => CONTENT.subarray(at * 500, at * 500 + 500));
  const ends = [4, 10];
  const open = async () => {
    const sent = chunks.slice(0, ends.shift()).values();
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const { done, value } = sent.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    });
    return new Response(body, { headers: { etag: '"a"', "content-length": "5000" } });
  };
  expect(await readAll(open)).toEqual(CONTENT);
});

test("a read gives up where a server without ranges sends no more than it sent before", async () => {
  let requests = 0;
  const open = async () => {
    requests += 1;
    const headers = { etag: '"a"', "content-length": "5000" };
    return new Response(new Blob([CONTENT.subarray(0, 3000)]).stream(), { headers });
  };
  const bounded = () => (requests < 20 ? open() : Promise.reject(new UserError("the read does not give up")));
  await expect(readAll(bounded)).rejects.toThrow(RetryableError);
  expect(requests).toBe(QUICK.maxFailures);
});

test("a read that was aborted while its response was on the way ends", async () => {
  const stop = new AbortController();
  const open = async () => {
    stop.abort(new Error("the node is shutting down"));
    return new Response(new ReadableStream({ pull: () => new Promise<void>(() => undefined) }));
  };
  await expect(readAll(open, stop.signal)).rejects.toThrow("the node is shutting down");
});

test.each(["bytes 2000-4999/5000", "bytes 4000-4999/5000", "bytes 3000-4999/*", "bytes", ""])(
  "a read takes nothing of a response with the range %j where it asked for bytes from 3000 on",
  async (contentRange) => {
    const open = async ({ range }: Readonly<Record<string, string>>) => {
      const from = Number(/^bytes=(\d+)-$/.exec(range ?? "")?.[1] ?? 0);
      const status = from === 0 ? 200 : 206;
      const headers = { etag: '"a"', "content-length": "5000", "content-range": contentRange };
      return new Response(new Blob([CONTENT.subarray(from, from + 3000)]).stream(), { status, headers });
    };
    await expect(readAll(open)).rejects.toThrow("the server sent another range");
  },
);
