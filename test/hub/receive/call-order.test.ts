import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { getInsecureHubRpcClient, Metadata } from "@farcaster/hub-nodejs";
import { startTestHub, type TestHub } from "../../support/hub.ts";
import {
  callHeaders,
  END_HEADERS,
  END_STREAM,
  FRAME_TYPES,
  frame,
  framesIn,
  opening,
} from "../../support/hub-clients/raw-http2.ts";
import { type TemporaryIndex, temporaryIndex } from "../../support/temporary-index.ts";

const EMPTY = Buffer.alloc(5);
/** An address other than that of the official client, so another client. */
const FLOODER = "127.0.0.2";
const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const TRACEPARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`;
/** Calls of one client that may run before the first call of another one. */
const MAX_BEFORE = 16;

let index: TemporaryIndex;
let hub: TestHub;
/** The calls in the order in which the node ran them: whether each has the trace of the client that waits. */
let ran: boolean[] = [];

beforeAll(async () => {
  index = temporaryIndex();
  hub = await startTestHub(index.path, {
    deps: {
      spans: {
        start(_, from) {
          ran.push(from?.link?.traceId === TRACE_ID);
          return undefined;
        },
      },
    },
  });
});
afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  index[Symbol.dispose]();
});
beforeEach(() => {
  ran = [];
});

/** A connection that sends what it is given, and takes no notice of settings. */
class RawConnection implements Disposable {
  readonly socket: Socket;
  readonly #received: Buffer[] = [];

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("error", () => undefined);
    socket.on("data", (bytes: Buffer) => this.#received.push(bytes));
  }

  static async open(localAddress = FLOODER): Promise<RawConnection> {
    const [host = "", port = ""] = hub.address.split(":");
    const connection = new RawConnection(connect({ host, port: Number(port), localAddress }));
    connection.socket.write(opening());
    while (connection.frames.length === 0) await Bun.sleep(1);
    return connection;
  }

  get frames() {
    return framesIn(Buffer.concat(this.#received));
  }

  /** The number of calls that the node has answered or refused. */
  get endedCalls(): number {
    const { headers, reset } = FRAME_TYPES;
    const ends = this.frames.filter(({ type }) => type === headers || type === reset);
    return new Set(ends.map(({ stream }) => stream)).size;
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}

function calls(count: number, headers = callHeaders("/HubService/GetInfo", hub.address)): Buffer {
  const frames = Array.from({ length: count }, (_, n) => [
    frame("headers", END_HEADERS, 2 * n + 1, headers),
    frame("data", END_STREAM, 2 * n + 1, EMPTY),
  ]);
  return Buffer.concat(frames.flat());
}

/** The official client, connected. */
async function waitingClient() {
  const client = getInsecureHubRpcClient(hub.address);
  await new Promise<void>((resolve, reject) =>
    client.$.waitForReady(Date.now() + 30_000, (error) => (error ? reject(error) : resolve())),
  );
  const metadata = new Metadata();
  metadata.set("traceparent", TRACEPARENT);
  return {
    getInfo: async () => (await client.getInfo({ dbStats: true }, metadata)).isOk(),
    [Symbol.dispose]: () => client.close(),
  };
}

async function openAll(count: number): Promise<RawConnection[] & Disposable> {
  const all = await Promise.all(Array.from({ length: count }, () => RawConnection.open()));
  const dispose = () => {
    for (const one of all) one[Symbol.dispose]();
  };
  return Object.assign(all, { [Symbol.dispose]: dispose });
}

test("a call waits for a few calls of another client, not for all that arrived before it", async () => {
  using client = await waitingClient();
  using flood = await openAll(8);
  for (const { socket } of flood) socket.write(calls(127));
  expect(await client.getInfo()).toBe(true);
  expect(ran.indexOf(true)).toBeLessThanOrEqual(MAX_BEFORE);

  while (ran.length < 8 * 127 + 1) await Bun.sleep(1);
  while (flood.some(({ endedCalls }) => endedCalls < 127)) await Bun.sleep(10);
});

test("a client that takes no notice of the limit of concurrent calls waits for itself", async () => {
  using client = await waitingClient();
  using flood = await RawConnection.open();
  // As many as the default window of a connection has room for.
  flood.socket.write(calls(2_000));
  expect(await client.getInfo()).toBe(true);
  expect(ran.indexOf(true)).toBeLessThanOrEqual(MAX_BEFORE);
  expect(flood.endedCalls).toBeLessThan(100);
  while (flood.endedCalls < 2_000) await Bun.sleep(100);
});

test("so does one that sends frames that are no calls", async () => {
  using client = await waitingClient();
  using flood = await RawConnection.open();
  const pings = () => flood.frames.filter(({ type }) => type === FRAME_TYPES.ping).length;
  flood.socket.write(Buffer.concat(Array<Buffer>(30_000).fill(frame("ping", 0, 0, Buffer.alloc(8)))));
  expect(await client.getInfo()).toBe(true);
  expect(pings()).toBeLessThan(2_000);
  while (pings() < 30_000) await Bun.sleep(10);
});
