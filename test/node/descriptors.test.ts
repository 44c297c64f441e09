import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { compiledProgram } from "../support/compiled-program.ts";
import { startNode, tempDir } from "../support/program.ts";

const LIMIT = 360;

/** Resolves when each of the sockets has started a request or was refused. */
function openAll(port: number, count: number): Promise<Socket[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(port, "127.0.0.1");
      await new Promise<void>((resolve) => {
        // The start of a request: a connection without data is accepted late.
        socket.on("connect", () => socket.write("GET /health HTTP/1.1\r\n", () => resolve()));
        socket.on("error", () => resolve());
      });
      return socket;
    }),
  );
}

const isUp = (url: string) =>
  fetch(url).then(
    ({ status }) => status === 200,
    () => false,
  );

test("refuses a limit with which it could never accept a connection, before it creates anything", async () => {
  using dir = tempDir();
  const program = [...compiledProgram, "--data-dir", dir.path, "serve"];
  const child = Bun.spawn(["sh", "-c", 'ulimit -n 64 && exec "$@"', "sh", ...program], {
    env: { PATH: process.env.PATH ?? "", HOME: dir.path },
    stdout: "ignore",
    stderr: "pipe",
  });
  const errors = await new Response(child.stderr).text();
  expect(await child.exited).toBe(1);
  expect(errors).toContain("this process may have 64 open files, and a node needs at least 128");
  expect(readdirSync(dir.path)).toEqual([]);
}, 60_000);

test("reserves descriptors when clients open more connections than the limit, and continues afterwards", async () => {
  using dir = tempDir();
  await using node = await startNode({
    command: ["sh", "-c", `ulimit -n ${LIMIT} && exec "$@"`, "sh", ...compiledProgram],
    dataDir: dir.path,
    args: ["--set", "http.workers=2"],
  });
  const port = Number(new URL(node.url).port);
  const descriptors = () => readdirSync(`/proc/${node.pid}/fd`).length;
  const sockets: Socket[] = [];
  let most = 0;
  for (let group = 0; group < 40; group++) {
    sockets.push(...(await openAll(port, 10)));
    await Bun.sleep(20);
    most = Math.max(most, descriptors());
  }
  // At most forty more than the limit: those that arrive between two readings of the number.
  expect(most).toBeGreaterThan(200);
  expect(most).toBeLessThan(LIMIT - 30);
  // All at once, more than the readings can react to.
  sockets.push(...(await openAll(port, LIMIT)));
  for (const socket of sockets) socket.destroy();

  for (let turn = 0; turn < 500 && !(await isUp(`${node.url}/v2/svc/feed/trending`)); turn++)
    await Bun.sleep(20);
  expect(await isUp(`${node.url}/health`)).toBe(true);
  const metrics = await (await fetch(`${node.url}/metrics`)).text();
  expect(Number(/^svc_http_accept_pauses_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0);
  expect(metrics).toMatch(/^svc_process_max_fds 360$/m);
  expect(node.logs()).not.toMatch(/"level":"(error|fatal)"/);
  expect(await node.stop()).toBe(0);
}, 180_000);
