import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import {
  type ChannelCredentials,
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
} from "@grpc/grpc-js";
import { GetInfoResponse, HubServiceService } from "../../src/protocol/wire/generated/hub.ts";
import { connectUpstream, isConnected } from "../../src/upstream/calls/connection.ts";
import { type HandshakeTimer, limitHandshake } from "../../src/upstream/calls/handshake-limit.ts";
import { createCertificateAuthority } from "../support/certificates.ts";

/** A peer whose first connection stays open and silent, as that of a paused machine that then vanishes. All others are served. The second one outlives the
 * limit. */

const authority = createCertificateAuthority();
const { cert, key } = authority.issue(["localhost"]);
const RETRY = { retryMs: 10, maxRetryMs: 20 };
let stack: AsyncDisposableStack;
beforeEach(() => {
  stack = new AsyncDisposableStack();
});
afterEach(() => stack.disposeAsync());

/** Ends the time of each connection so far. */
let endTimes: () => void;
let startTimer: HandshakeTimer;
beforeEach(() => {
  const timers: (() => void)[] = [];
  startTimer = (onLate) => void timers.push(onLate);
  endTimes = () => {
    for (const end of timers.splice(0)) end();
  };
});

/** Starts a hub that ends the time of the connection before it responds. */
async function startHub(security: ServerCredentials): Promise<number> {
  const server = new Server();
  const getInfo = (_: unknown, respond: (fault: null, info: GetInfoResponse) => void) => {
    endTimes();
    setImmediate(() => respond(null, GetInfoResponse.fromPartial({ version: "1" })));
  };
  server.addService({ getInfo: HubServiceService.getInfo }, { getInfo });
  stack.defer(() => server.forceShutdown());
  return new Promise((resolve) => server.bindAsync("127.0.0.1:0", security, (_, port) => resolve(port)));
}

/**
 * Starts the peer in front of a hub.
 *
 * @param keepSilent takes the first connection.
 */
async function startPeer(hubPort: number, keepSilent: (socket: Socket) => void) {
  let connections = 0;
  const ended = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    socket.on("error", () => {});
    if (++connections === 1) {
      socket.on("close", () => ended.resolve());
      return keepSilent(socket);
    }
    const hub = connect(hubPort, "127.0.0.1");
    hub.on("error", () => {});
    socket.pipe(hub).pipe(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  stack.defer(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { port, ended: ended.promise, connections: () => connections };
}

/** Calls until there is a response. */
async function infoOf(client: Client): Promise<GetInfoResponse> {
  stack.defer(() => client.close());
  const { path, responseDeserialize } = HubServiceService.getInfo;
  for (;;) {
    const call = Promise.withResolvers<GetInfoResponse | undefined>();
    client.makeUnaryRequest(
      path,
      () => Buffer.alloc(0),
      responseDeserialize,
      {},
      new Metadata(),
      (fault, info) => call.resolve(fault ? undefined : info),
    );
    const info = await call.promise;
    if (info) return info;
  }
}

/** Keeps a connection open and silent. Its time ends once the client waits for a response. */
const drain = (socket: Socket) => void socket.on("data", () => endTimes());

describe("a peer whose first connection stays silent is called again, and the connection is closed", () => {
  test("over HTTP", async () => {
    const peer = await startPeer(await startHub(ServerCredentials.createInsecure()), drain);
    const client = connectUpstream(`http://127.0.0.1:${peer.port}`, { ...RETRY, startTimer });
    expect((await infoOf(client)).version).toBe("1");
    await peer.ended;
    expect(peer.connections()).toBe(2);
  });

  const overTls = (port: number) => {
    const trusted: ChannelCredentials = credentials.createSsl(Buffer.from(authority.ca));
    const limited = limitHandshake(trusted, startTimer, () => isConnected(client));
    const client = new Client(`localhost:${port}`, limited, {
      "grpc.initial_reconnect_backoff_ms": RETRY.retryMs,
      "grpc.max_reconnect_backoff_ms": RETRY.maxRetryMs,
    });
    return client;
  };
  const hubOverTls = () =>
    startHub(
      ServerCredentials.createSsl(null, [{ cert_chain: Buffer.from(cert), private_key: Buffer.from(key) }]),
    );

  test("before the TLS handshake", async () => {
    const peer = await startPeer(await hubOverTls(), drain);
    expect((await infoOf(overTls(peer.port))).version).toBe("1");
    await peer.ended;
    expect(peer.connections()).toBe(2);
  });

  test("after the TLS handshake", async () => {
    const silent = createTlsServer({ cert, key, ALPNProtocols: ["h2"] }, (socket) => {
      socket.on("error", () => {});
      drain(socket);
    });
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    stack.defer(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    const peer = await startPeer(await hubOverTls(), (socket) => {
      const inner = connect(port, "127.0.0.1");
      inner.on("error", () => {});
      socket.pipe(inner).pipe(socket);
    });
    expect((await infoOf(overTls(peer.port))).version).toBe("1");
    await peer.ended;
    expect(peer.connections()).toBe(2);
  });
});
