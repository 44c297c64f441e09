import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { createAdmission } from "../../src/admission/admission.ts";
import { Budget } from "../../src/admission/budget.ts";
import { createClientAddresses } from "../../src/admission/client-address.ts";
import { startTestHub, type TestHub } from "../support/hub.ts";
import {
  callHeaders,
  END_HEADERS,
  END_STREAM,
  FRAME_TYPES,
  frame,
  framesIn,
  headerField,
  opening,
} from "../support/hub-clients/raw-http2.ts";
import { type TemporaryIndex, temporaryIndex } from "../support/temporary-index.ts";

let index: TemporaryIndex;
let hub: TestHub;
let connections: Budget;

beforeAll(async () => {
  index = temporaryIndex();
  connections = new Budget({ unit: "connections", total: 100, perClient: 3 });
  hub = await startTestHub(index.path, {
    deps: { budgets: { ...createAdmission().budgets, hubConnections: connections } },
  });
});
afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  index[Symbol.dispose]();
});

/** Opens a connection that stays idle, until the node responds or closes it. */
async function open({ address } = hub): Promise<{ readonly socket: Socket; readonly isServed: boolean }> {
  const [host = "", port = ""] = address.split(":");
  const socket = connect({ host, port: Number(port) });
  socket.on("error", () => undefined);
  socket.write(opening());
  const isServed = await new Promise<boolean>((resolve) => {
    socket.once("data", () => resolve(true));
    socket.once("close", () => resolve(false));
  });
  return { socket, isServed };
}

/** Returns whether a call on a connection gets response headers. */
async function isCallServed(socket: Socket): Promise<boolean> {
  const received: Buffer[] = [];
  socket.on("data", (bytes: Buffer) => received.push(bytes));
  const headers = callHeaders("/HubService/GetInfo", hub.address);
  socket.write(
    Buffer.concat([frame("headers", END_HEADERS, 1, headers), frame("data", END_STREAM, 1, Buffer.alloc(5))]),
  );
  const hasResponse = () =>
    framesIn(Buffer.concat(received)).some(({ type }) => type === FRAME_TYPES.headers);
  while (!hasResponse() && !socket.destroyed) await Bun.sleep(1);
  return hasResponse();
}

test("a client has at most its share of connections, also of idle ones; the next is closed, and one that ends makes room", async () => {
  const all = [await open(), await open(), await open()];
  expect(all.map(({ isServed }) => isServed)).toEqual([true, true, true]);
  for (let n = 0; n < 5; n++) expect((await open()).isServed).toBe(false);
  expect(connections.use()).toEqual({ held: 3, refused: { client: 5, total: 0 } });

  const [first, second] = all;
  expect(first && (await isCallServed(first.socket))).toBe(true);
  second?.socket.destroy();
  while (connections.use().held > 2) await Bun.sleep(1);
  const next = await open();
  expect(next.isServed).toBe(true);
  for (const { socket } of [...all, next]) socket.destroy();
  while (connections.use().held > 0) await Bun.sleep(1);
});

test("a connection that its client resets at once holds nothing", async () => {
  const [host = "", port = ""] = hub.address.split(":");
  for (let n = 0; n < 50; n++) {
    const socket = connect({ host, port: Number(port) });
    socket.on("error", () => undefined);
    await new Promise<void>((resolve) => {
      socket.once("close", () => resolve());
      socket.once("connect", () => socket.resetAndDestroy());
    });
  }
  // The last ones may arrive only now.
  let isServed = false;
  while (!isServed) {
    const one = await open();
    isServed = one.isServed;
    one.socket.destroy();
  }
  while (connections.use().held > 0) await Bun.sleep(1);
});

test("a trusted proxy, which may open a connection for each call of its clients, is bounded only by the total", async () => {
  const budget = new Budget({ unit: "connections", total: 5, perClient: 3, reserve: 0 });
  const clients = createClientAddresses({
    trusted_proxies: ["127.0.0.1/32"],
    proxy_header: "x-forwarded-for",
  });
  await using proxied = await startTestHub(index.path, {
    deps: { clients, budgets: { ...createAdmission().budgets, hubConnections: budget } },
  });
  const all: Awaited<ReturnType<typeof open>>[] = [];
  for (let n = 0; n < 6; n++) all.push(await open(proxied));
  expect(all.map(({ isServed }) => isServed)).toEqual([true, true, true, true, true, false]);
  expect(budget.use()).toEqual({ held: 5, refused: { client: 0, total: 1 } });
  for (const { socket } of all) socket.destroy();
  while (budget.use().held > 0) await Bun.sleep(1);
});

test("one client of a proxy that opens a connection for each call leaves most of them to the others", async () => {
  const { budgets } = createAdmission(192);
  const { hubConnections: all, hubProxied: used } = budgets;
  const clients = createClientAddresses({
    trusted_proxies: ["127.0.0.1/32"],
    proxy_header: "x-forwarded-for",
  });
  await using proxied = await startTestHub(index.path, { deps: { clients, budgets } });
  /** Starts a call of a client, whose request never ends. Like a proxy, closes the connection of a call that has ended. */
  async function call(client: string, stream = 1, through?: Socket): Promise<Socket | "refused" | "closed"> {
    const { socket, isServed } = through ? { socket: through, isServed: true } : await open(proxied);
    if (!isServed) return "closed";
    const before = used.use();
    const forwarded = headerField("x-forwarded-for", client);
    const headers = Buffer.concat([callHeaders("/HubService/GetInfo", proxied.address), forwarded]);
    const received: Buffer[] = [];
    socket.on("data", (bytes: Buffer) => received.push(bytes));
    socket.write(frame("headers", END_HEADERS, stream, headers));
    const isRefused = () =>
      framesIn(Buffer.concat(received)).some(({ type }) => type === FRAME_TYPES.headers);
    const isHeld = () => used.use().held > before.held;
    // A call on a connection that its client uses already holds no more.
    if (!through) while (!isRefused() && !isHeld()) await Bun.sleep(1);
    if (!isRefused()) return socket;
    socket.destroy();
    return "refused";
  }
  const held: Socket[] = [];
  for (let n = 0; n < all.terms.total + 10; n++) {
    const outcome = await call("203.0.113.1");
    if (outcome !== "refused" && outcome !== "closed") held.push(outcome);
  }
  expect(held.length).toBe(all.terms.perClient);
  expect(held.length * 4).toBeLessThanOrEqual(all.terms.total + 4);
  const other = await call("203.0.113.2");
  expect(other).not.toBeString();
  // Its calls on one connection count once, until the last of them ends.
  const calls = () => budgets.hubCalls.use().held;
  const callsBefore = calls();
  await call("203.0.113.2", 3, other as Socket);
  while (calls() === callsBefore) await Bun.sleep(1);
  expect(used.use().held).toBe(held.length + 1);
  (other as Socket).write(frame("reset", 0, 3, Buffer.from([0, 0, 0, 8])));
  while (calls() > callsBefore) await Bun.sleep(1);
  expect(used.use().held).toBe(held.length + 1);
  for (const socket of [...held, other as Socket]) socket.destroy();
  while (used.use().held + all.use().held > 0) await Bun.sleep(1);
});

test.each([192, 384, 768, 3_072, 64_512])(
  "of %p descriptors, the connections of one client take at most a sixteenth, and those of all a quarter and a reserve",
  (descriptorCap) => {
    const { total, perClient } = createAdmission(descriptorCap).budgets.hubConnections.terms;
    expect(perClient).toBeWithin(6, descriptorCap / 16 + 2);
    expect(total).toBeLessThanOrEqual(descriptorCap / 4 + 1);
  },
);
