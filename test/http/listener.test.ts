import { expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { processDescriptors } from "../../src/runtime/process.ts";
import { runHttp } from "../support/http.ts";
import { sampleRoutes } from "./sample-routes.ts";

/** The descriptors of this process, with a cap that a few connections reach. */
function cappedAt(more: number) {
  const real = processDescriptors();
  if (real === undefined) throw new Error("the system does not report the limit of descriptors");
  return { cap: real.open() + more, limit: real.open() + more, open: () => real.open() };
}

async function open(port: number): Promise<Socket | undefined> {
  const socket = connect(port, "127.0.0.1");
  const opened = await new Promise<boolean>((resolve) => {
    socket.on("connect", () => resolve(true));
    socket.on("error", () => resolve(false));
  });
  return opened ? socket : undefined;
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await Bun.sleep(5);
}

const canConnect = async (port: number) => {
  const socket = await open(port);
  socket?.destroy();
  return socket !== undefined;
};

test("at the cap closes idle connections and accepts new ones", async () => {
  await using http = runHttp({ plugins: sampleRoutes(), descriptors: cappedAt(60) });
  const sockets: Socket[] = [];
  // Both ends of a connection are in this process, so thirty reach the cap.
  for (let n = 0; n < 60; n++) {
    const socket = await open(http.port);
    if (socket === undefined) break;
    socket.write("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
    await new Promise((resolve) => socket.once("data", resolve));
    sockets.push(socket);
    await Bun.sleep(2);
  }
  expect(sockets.some(({ closed, readableEnded }) => closed || readableEnded)).toBe(true);
  expect((await fetch(`${http.url}/health`)).status).toBe(200);
  for (const socket of sockets) socket.destroy();
  expect(await (await fetch(`${http.url}/metrics`)).text()).toContain("svc_http_accept_pauses_total 0");
}, 180_000);

test("stops accepting if that is not enough, until there is room; accepted requests continue", async () => {
  await using http = runHttp({ plugins: sampleRoutes(), descriptors: cappedAt(60) });
  // A request in progress counts as in flight.
  const slow = await open(http.port);
  slow?.write("POST /v2/svc/notes HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\n");
  const silent: Socket[] = [];
  await until(async () => {
    const socket = await open(http.port);
    if (socket !== undefined) silent.push(socket);
    // A partial request: a connection without bytes is accepted late.
    socket?.write("GET /health HTTP/1.1\r\n");
    await Bun.sleep(2);
    return socket === undefined;
  });
  expect(silent.length).toBeGreaterThan(20);
  await expect(fetch(`${http.url}/health`)).rejects.toThrow();

  const response = new Promise<string>((resolve) => slow?.once("data", (bytes) => resolve(bytes.toString())));
  slow?.write('{"name":"a"}');
  expect(await response).toStartWith("HTTP/1.1 201");

  for (const socket of silent) socket.destroy();
  await until(() => canConnect(http.port));
  expect((await fetch(http.api("/user?fid=3"))).status).toBe(200);
  const metrics = await (await fetch(`${http.url}/metrics`)).text();
  expect(metrics).toContain("svc_http_accept_pauses_total 1");
  const logged = http.logLines.map(({ msg }) => msg);
  expect(logged).toContain("Stopped accepting connections: too few descriptors are left");
  expect(logged).toContain("Resumed accepting connections");
}, 180_000);

test("a server that is stopped while it does not accept stays stopped", async () => {
  const descriptors = { cap: 0, limit: 1, open: () => 1 };
  const http = runHttp({ descriptors });
  await until(async () => !(await canConnect(http.port)));
  await http.server.stop();
  descriptors.cap = 100;
  await Bun.sleep(120);
  expect(await canConnect(http.port)).toBe(false);
});
