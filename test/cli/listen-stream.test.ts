import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect, createServer, type Server, type Socket } from "node:net";
import { DEFAULT_TIMESTAMP, signedCast } from "../support/messages.ts";
import { accountSigner } from "../support/node.ts";
import { fromSources } from "../support/program.ts";
import { startTestStreams, type TestStreams } from "../support/streams.ts";

let bench: TestStreams;
/** A proxy whose connections the test cuts. */
let proxy: Server;
const sockets = new Set<Socket>();
beforeAll(async () => {
  bench = startTestStreams();
  proxy = createServer((socket) => {
    const upstream = connect(bench.http.port, "127.0.0.1");
    sockets.add(socket);
    socket.pipe(upstream).pipe(socket);
    for (const one of [socket, upstream]) one.on("error", () => undefined);
    socket.on("close", () => upstream.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  proxy.close();
  await bench[Symbol.asyncDispose]();
});

const proxyUrl = () => {
  const address = proxy.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
};

let serial = 0;
function cast(text: string): void {
  const timestamp = DEFAULT_TIMESTAMP - 500 + serial++;
  bench.node.ingestMessage(signedCast(1, text, accountSigner(1), { timestamp }));
}

test("listen --stream prints the events of a node and continues after the last one when the connection breaks", async () => {
  const child = Bun.spawn([...fromSources, "listen", "--stream", `${proxyUrl()}/?kinds=cast.created`], {
    env: { PATH: process.env.PATH ?? "" },
    stdout: "pipe",
    stderr: "pipe",
  });
  const reader = child.stdout.getReader();
  const decoder = new TextDecoder();
  let printed = "";
  const until = async (text: string) => {
    while (!printed.includes(text)) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`ended after ${printed}`);
      printed += decoder.decode(value);
    }
  };
  await until("hello\n");
  cast("before the break");
  await until("before the break");
  for (const socket of sockets) socket.destroy();
  cast("while it is broken");
  await until("while it is broken");
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  expect(printed.match(/before the break/g)).toHaveLength(1);
  expect(printed).toContain("cast.created\n  id: ");
  expect(await new Response(child.stderr).text()).toContain("The stream broke and is opened again");
}, 180_000);

test("listen --since --until prints the events of that time, as far apart as they were with --speed, then ends", async () => {
  const { clock } = bench.node;
  const now = () => Math.floor(clock.nowMs() / 1000);
  cast("of before");
  clock.advanceSecs(60);
  const since = now();
  cast("the first of the window");
  clock.advanceSecs(40);
  cast("the last of the window");
  clock.advanceSecs(10);
  const until = now();
  cast("of later");
  clock.advanceSecs(10);
  const startedMs = performance.now();
  const child = Bun.spawn(
    [
      ...fromSources,
      ...["listen", "--stream", `${bench.http.url}/?kinds=cast.created`],
      ...["--since", `${since}`, "--until", `${until}`, "--speed", "100"],
    ],
    { env: { PATH: process.env.PATH ?? "" }, stdout: "pipe", stderr: "pipe" },
  );
  const printed = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  expect(await new Response(child.stderr).text()).toBe("");
  expect([...printed.matchAll(/of before|the \w+ of the window|of later/g)].map(([text]) => text)).toEqual([
    "the first of the window",
    "the last of the window",
  ]);
  expect(performance.now() - startedMs).toBeGreaterThan(400);
});

test("listen refuses an invalid time, and --since without --stream", async () => {
  const run = async (...args: string[]) => {
    const child = Bun.spawn([...fromSources, "listen", ...args], {
      env: { PATH: process.env.PATH ?? "" },
      stderr: "pipe",
    });
    expect(await child.exited).not.toBe(0);
    return new Response(child.stderr).text();
  };
  expect(await run("--stream", bench.http.url, "--since", "soon")).toContain("It is a time such as");
  expect(await run("--since", "03:10")).toContain("--since, --until and --speed need --stream");
  expect(await run("--stream", bench.http.url, "--speed", "2")).toContain("--speed needs --since");
});

test("listen --stream ends with the refusal of the node", async () => {
  const child = Bun.spawn([...fromSources, "listen", "--stream", `${bench.http.url}/?text=(`], {
    env: { PATH: process.env.PATH ?? "" },
    stderr: "pipe",
  });
  expect(await child.exited).toBe(1);
  expect(await new Response(child.stderr).text()).toContain("text is not a valid RE2 regular expression");
});

/** Serves a response that never ends, as fast as its reader takes it, and counts its bytes. */
async function endless(head: string, part: Buffer) {
  const state = { sent: 0 };
  const server = createServer((socket) => {
    const write = () => {
      while (!socket.destroyed) {
        state.sent += part.length;
        if (!socket.write(part)) break;
      }
    };
    socket.once("data", () => {
      socket.write(`HTTP/1.1 ${head}\r\n\r\n`);
      write();
    });
    socket.on("drain", write);
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return { state, url: `http://127.0.0.1:${port}/`, [Symbol.dispose]: () => server.close() };
}

const listenTo = (url: string) =>
  Bun.spawn([...fromSources, "listen", "--stream", url], {
    env: { PATH: process.env.PATH ?? "" },
    stdout: "pipe",
    stderr: "pipe",
  });

test("listen --stream reads as fast as its output is read", async () => {
  const event = Buffer.from(`id: 1\nevent: cast.created\ndata: {"text":"${"x".repeat(900)}"}\n\n`.repeat(64));
  using node = await endless("200 OK\r\nContent-Type: text/event-stream", event);
  const child = listenTo(node.url);
  const reader = child.stdout.getReader();
  await reader.read();
  // The buffers of both sockets and of the pipe are full once nothing has been sent for a while.
  for (let before = -1, quiet = 0; quiet < 20; quiet = before === node.state.sent ? quiet + 1 : 0) {
    before = node.state.sent;
    await Bun.sleep(20);
    if (node.state.sent > 200 * 2 ** 20) break;
  }
  expect(node.state.sent).toBeLessThan(100 * 2 ** 20);
  child.kill("SIGKILL");
  await child.exited;
}, 180_000);

test("listen --stream reads the beginning of a refusal that never ends", async () => {
  using node = await endless("404 Not Found\r\nContent-Type: text/plain", Buffer.from("no ".repeat(30_000)));
  const child = listenTo(node.url);
  expect(await child.exited).toBe(1);
  const message = await new Response(child.stderr).text();
  expect(message).toContain("the node responded 404 no no no");
  expect(message.length).toBeLessThan(1_000);
}, 180_000);
