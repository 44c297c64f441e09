import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { connect as connectSocket } from "node:net";
import { createAdmission } from "../../src/admission/admission.ts";
import { Budget } from "../../src/admission/budget.ts";
import { createClientAddresses } from "../../src/admission/client-address.ts";
import { startTestHub, type TestHub } from "../support/hub.ts";
import { callHeaders, END_HEADERS, END_STREAM, frame, opening } from "../support/hub-clients/raw-http2.ts";
import { type TemporaryIndex, temporaryIndex } from "../support/temporary-index.ts";

const EMPTY = Buffer.alloc(5);
const RESOURCE_EXHAUSTED = "8";

let index: TemporaryIndex;
let hub: TestHub;
let calls: Budget;

beforeAll(async () => {
  index = temporaryIndex();
  calls = new Budget({ unit: "calls", total: 40, perClient: 10 });
  hub = await startTestHub(index.path, {
    deps: {
      budgets: { ...createAdmission().budgets, hubCalls: calls },
      // A call that names no other client is the peer's own.
      clients: createClientAddresses({ trusted_proxies: ["127.0.0.0/8"], proxy_header: "x-forwarded-for" }),
    },
  });
});
afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  index[Symbol.dispose]();
});

/** A connection whose client takes no response. */
function closedConnection(): ClientHttp2Session & Disposable {
  const session = connect(`http://${hub.address}`, { settings: { initialWindowSize: 0 } });
  session.on("error", () => undefined);
  return Object.assign(session, { [Symbol.dispose]: () => session.destroy() });
}

function begin(session: ClientHttp2Session, headers: Record<string, string> = {}): ClientHttp2Stream {
  const stream = session.request({
    ":method": "POST",
    ":path": "/HubService/GetInfo",
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  stream.on("error", () => undefined);
  stream.end(EMPTY);
  return stream;
}

async function until(condition: () => boolean) {
  while (!condition()) await Bun.sleep(1);
}

test("a client with as many calls as its share, which it does not read, loses the connection of the next one; the end of its others frees their places", async () => {
  {
    using first = closedConnection();
    for (let n = 0; n < 10; n += 1) begin(first);
    await until(() => calls.use().held === 10);
    using second = closedConnection();
    const lost = new Promise((resolve) => second.once("close", resolve));
    begin(second);
    await lost;
    expect([first.destroyed, calls.use()]).toEqual([false, { held: 10, refused: { client: 1, total: 0 } }]);
  }
  await until(() => calls.use().held === 0);
});

/** The frames that begin calls, without a client that would close its end by itself. */
function rawCalls(count: number): Buffer {
  const headers = callHeaders("/HubService/GetInfo", hub.address);
  const frames = Array.from({ length: count }, (_, n) => [
    frame("headers", END_HEADERS, 2 * n + 1, headers),
    frame("data", END_STREAM, 2 * n + 1, EMPTY),
  ]);
  return Buffer.concat([opening(), ...frames.flat()]);
}

test.each([
  { held: 10, sent: 1 },
  // The calls within the share are running when the connection is lost.
  { held: 5, sent: 100 },
])(
  "the node closes the socket of the lost connection itself, so that no call waits without end and no descriptor stays taken: %p",
  async ({ held, sent }) => {
    {
      using first = closedConnection();
      for (let n = 0; n < held; n += 1) begin(first);
      await until(() => calls.use().held === held);
      const [host = "", port = ""] = hub.address.split(":");
      const socket = connectSocket({ host, port: Number(port), allowHalfOpen: true });
      socket.on("error", () => undefined);
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.resume();
      socket.write(rawCalls(sent));
      await closed;
      await until(() => calls.use().held === held);
    }
    await until(() => calls.use().held === 0);
  },
);

test("behind a proxy the call is refused, and the connection, which has the calls of others, stays", async () => {
  using proxy = closedConnection();
  const from = (address: string) => begin(proxy, { "x-forwarded-for": address });
  for (let n = 0; n < 10; n += 1) from("203.0.113.1");
  await until(() => calls.use().held === 10);
  const refused = from("203.0.113.1");
  const status = await new Promise((resolve) => {
    for (const event of ["response", "trailers"] as const)
      refused.on(event, (headers) => {
        if ("grpc-status" in headers) resolve(headers["grpc-status"]);
      });
  });
  expect(String(status)).toBe(RESOURCE_EXHAUSTED);
  from("203.0.113.2");
  await until(() => calls.use().held === 11);
  expect(proxy.destroyed).toBe(false);
});
