import { expect, test } from "bun:test";
import { createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, createServer, type Server as NetServer } from "node:net";
import {
  Server,
  ServerCredentials,
  type ServiceError,
  status,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { openIndexInMemory } from "../../src/db/index/database.ts";
import { GetInfoResponse, HubServiceService } from "../../src/protocol/wire/generated/hub.ts";
import { startFollower } from "../../src/upstream/follower.ts";
import { peerErrorOf } from "../../src/upstream/peer.ts";
import { behindReason } from "../../src/upstream/progress-text.ts";
import { ManualClock } from "../support/clock.ts";

const NOT_A_NODE = "upstream.url does not lead to a Farcaster node that can be followed: ";
const PACE = { pollMs: 4, retryMs: 2, maxRetryMs: 8, stallMs: 500, callTimeoutMs: 500 };

interface Peer {
  readonly url: string;
  stop(): void;
}

async function listening(server: NetServer): Promise<Peer> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => void server.close(),
  };
}

/** A gRPC server with some methods of a HubService. */
async function hub(methods: UntypedServiceImplementation): Promise<Peer> {
  const server = new Server();
  const definition = Object.fromEntries(
    Object.entries(HubServiceService).filter(([name]) => name in methods),
  ) as typeof HubServiceService;
  if (Object.keys(definition).length > 0) server.addService(definition, methods as never);
  const port = await new Promise<number>((resolve) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (_, bound) => resolve(bound));
  });
  return { url: `http://127.0.0.1:${port}`, stop: () => server.forceShutdown() };
}

function answering(page: string) {
  return createHttp2Server((_, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end(page);
  });
}

const info = (numShards: number) =>
  ((_call: unknown, answer: (fault: null, info: GetInfoResponse) => void) =>
    answer(null, GetInfoResponse.fromPartial({ numShards }))) as never;

/** Each way in which an upstream can be none, and what is said of it. */
const PEERS: readonly (readonly [what: string, start: () => Promise<Peer>, reason: RegExp])[] = [
  [
    "a web server",
    async () => {
      const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("<html>") });
      return { url: `http://127.0.0.1:${server.port}`, stop: () => void server.stop(true) };
    },
    /^it does not speak HTTP\/2, and so no gRPC; the gRPC port of a node is 3383/,
  ],
  [
    "something that speaks first",
    () =>
      listening(createServer((socket) => void socket.on("error", () => {}).write("SSH-2.0-OpenSSH_9.6\r\n"))),
    /^it does not speak HTTP\/2/,
  ],
  [
    "an HTTP/2 server that knows no such path",
    () =>
      listening(
        createHttp2Server((_, response) => {
          response.writeHead(404, { "content-type": "text/html" });
          response.end("not found");
        }),
      ),
    /^it answers HTTP \(status 404\) and no gRPC/,
  ],
  [
    "an HTTP/2 server that answers whatever it is asked",
    () => listening(answering("<!doctype html><html></html>")),
    /^it answers HTTP and no gRPC/,
  ],
  [
    "an HTTP/2 server that answers next to nothing",
    () => listening(answering("ok")),
    /^it answers HTTP and no gRPC/,
  ],
  ["the gRPC of another service", () => hub({}), /^it speaks gRPC and serves no HubService/],
  ["a node of no shards", () => hub({ getInfo: info(0) }), /^it says that it has 0 shards$/],
  ["a node that follows nobody", () => hub({ getInfo: info(1) }), /^it does not serve GetBlocks/],
  [
    "a node that requires a login for reads",
    () =>
      hub({
        getInfo: ((_: unknown, respond: (fault: Partial<ServiceError>) => void) =>
          respond({ code: status.UNAUTHENTICATED, details: "missing login" })) as never,
      }),
    /^it requires a login for GetInfo \(UNAUTHENTICATED\)/,
  ],
  [
    "a port that accepts connections and sends nothing",
    () => listening(createServer((socket) => void socket.on("error", () => {}))),
    /^it does not respond \(GetInfo timed out\); the gRPC port of a node is 3383/,
  ],
  [
    "an HTTP/2 server that never responds",
    () => listening(createHttp2Server(() => {})),
    /^it does not respond \(GetInfo timed out\)/,
  ],
  [
    "a node that lists no fids",
    () => hub({ getInfo: info(1), getBlocks: ((call: { end(): void }) => call.end()) as never }),
    /^it does not serve GetEvents$/,
  ],
];

test.each(PEERS)("%s is called what it is, once, and is asked again", async (_what, start, reason) => {
  const peer = await start();
  using db = openIndexInMemory();
  const told: string[] = [];
  const faults: string[] = [];
  const first = Promise.withResolvers<void>();
  const follower = startFollower({
    url: peer.url,
    reader: db,
    writer: { apply: async () => {} },
    network: 1,
    clock: new ManualClock(1_700_000_000),
    fids: undefined,
    concurrency: 1,
    pace: PACE,
    onFault: (what, cause) => faults.push(`${what}: ${cause}`),
    onPeerError: ({ message }) => {
      told.push(message);
      first.resolve();
    },
  });
  // The first connection may be refused as unreachable; each try after it finds the same.
  await first.promise;
  // A dozen tries more at this pace.
  await Bun.sleep(60);
  const progress = follower.progress();
  await follower.stop();
  peer.stop();
  expect(told).toHaveLength(1);
  expect(told[0]?.startsWith(NOT_A_NODE)).toBe(true);
  expect(told[0]?.slice(NOT_A_NODE.length)).toMatch(reason);
  expect(behindReason(progress, 30)).toBe(told[0] ?? "");
  expect(told[0]).not.toContain("127.0.0.1");
  // A web server also closes connections without a word, which says nothing of it.
  expect(faults.filter((fault) => !fault.includes("UNAVAILABLE"))).toEqual([]);
});

test("what passes by itself says nothing of the peer", () => {
  const fault = (code: status, details: string) => Object.assign(new Error(details), { code, details });
  for (const passing of [
    fault(
      status.UNAVAILABLE,
      "No connection established. Last error: Error: connect ECONNREFUSED 127.0.0.1:1.",
    ),
    fault(status.UNAVAILABLE, "Received HTTP status code 503"),
    fault(status.UNAVAILABLE, "Received HTTP status code 429"),
    fault(status.INTERNAL, "store error"),
    new Error("stopped"),
    "a text",
    undefined,
  ])
    expect(peerErrorOf("getInfo", passing)).toBeUndefined();
  // A node that responded to GetInfo is one, however slow its other responses are.
  expect(peerErrorOf("getFids", fault(status.DEADLINE_EXCEEDED, "Deadline exceeded"))).toBeUndefined();
  // A peer of another implementation gives no details with it.
  expect(peerErrorOf("subscribe", fault(status.UNIMPLEMENTED, ""))?.message).toContain("serve Subscribe");
});
