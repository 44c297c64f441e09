import { expect, test } from "bun:test";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { Budget } from "../../../src/admission/budget.ts";
import { OrderedConnection } from "../../../src/hub/receive/ordered-connection.ts";
import { ReceiveOrder } from "../../../src/hub/receive/receive-order.ts";

const MIB = 1024 * 1024;
const FRAME = Buffer.alloc(16 * 1024);
/** More than the buffers of the system for a connection. */
const SYSTEM_BYTES = 16 * MIB;

/** Opens a connection whose client reads nothing by itself. */
async function openConnection({ stallTimeoutMs = 120_000 } = {}) {
  const unsent = new Budget({ unit: "bytes", total: 256 * MIB, perClient: 256 * MIB });
  const server = createServer({ pauseOnConnect: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const accepted = once(server, "connection");
  const client = connect({ host: "127.0.0.1", port: (server.address() as AddressInfo).port });
  client.pause();
  const [socket] = (await accepted) as [Socket];
  const connection = new OrderedConnection(socket, {
    order: new ReceiveOrder(),
    key: "client",
    unsent: unsent.open("client"),
    stallTimeoutMs,
  });
  let received = 0;
  for (const each of [client, connection]) each.on("error", () => undefined);
  client.on("data", ({ length }: Buffer) => {
    received += length;
  });
  client.pause();
  return {
    client,
    connection,
    socket,
    unsent,
    received: () => received,
    /** Lets the client read at least this much more, unless the connection ends. */
    async read(bytes: number) {
      const target = received + bytes;
      client.resume();
      while (received < target && !client.destroyed) await turn();
      client.pause();
    },
    [Symbol.dispose]() {
      client.destroy();
      server.close();
    },
  };
}

test.each([
  ["frames", FRAME.length],
  ["a response", 32 * MIB],
])("what a client leaves unread counts until it has read it: %s", async (_, partBytes) => {
  using opened = await openConnection();
  const { connection, unsent, received, read } = opened;
  const bytes = 64 * MIB;
  for (let sent = 0; sent < bytes; sent += partBytes) connection.write(Buffer.alloc(partBytes));
  while (received() < bytes) {
    expect(bytes - received() - unsent.use().held).toBeLessThan(SYSTEM_BYTES);
    await read(Math.min(MIB, bytes - received()));
  }
  while (unsent.use().held > 0) await turn();
});

test("a client that reads slowly keeps its connection, however much waits for it", async () => {
  using opened = await openConnection({ stallTimeoutMs: 3_000 });
  const bytes = 64 * MIB;
  for (let sent = 0; sent < bytes; sent += FRAME.length) opened.connection.write(FRAME);
  const reads = 8;
  for (let n = 0; n < reads; n++) {
    await opened.read(bytes / reads / 2);
    await Bun.sleep(750);
  }
  await opened.read(bytes - opened.received());
  expect(opened.received()).toBe(bytes);
});

test.each([0, 2 * MIB])(
  "a client that does not read the last bytes of an ended connection loses it: %p bytes before the end",
  async (unsentBytes) => {
    using opened = await openConnection({ stallTimeoutMs: 1_000 });
    const { connection, socket, unsent } = opened;
    // The system takes no more, but the socket does.
    while (socket.writableLength === 0) {
      connection.write(FRAME);
      await turn();
    }
    for (let sent = 0; sent < unsentBytes; sent += FRAME.length) connection.write(FRAME);
    connection.end();
    await once(connection, "close");
    expect([socket.destroyed, unsent.use().held]).toEqual([true, 0]);
  },
);

test("an ended connection sends all that waits, to a client that reads it", async () => {
  using opened = await openConnection();
  const parts = Array.from({ length: 256 }, (_, n) => Buffer.alloc(1_000 * n, n));
  const received: Buffer[] = [];
  opened.client.on("data", (bytes: Buffer) => received.push(bytes));
  opened.client.pause();
  for (const part of parts) opened.connection.write(part);
  opened.connection.end();
  opened.client.resume();
  await once(opened.connection, "close");
  expect(Buffer.concat(received).equals(Buffer.concat(parts))).toBe(true);
});
