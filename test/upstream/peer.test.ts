import { describe, expect, test } from "bun:test";
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
import { peerErrorOf, reasonOfCall } from "../../src/upstream/calls/peer.ts";
import { startFollower } from "../../src/upstream/follow/follower.ts";
import { DEFAULT_TIMINGS } from "../../src/upstream/timings.ts";
import { ManualClock } from "../support/clock.ts";
import { startTestHub } from "../support/hub.ts";
import { callsAtOnce } from "../support/upstream/calls.ts";

const NOT_A_NODE = "upstream.url does not lead to a Farcaster node that can be followed: ";
const TIMINGS = {
  ...DEFAULT_TIMINGS,
  pollMs: 4,
  retryMs: 2,
  maxRetryMs: 8,
  roomPollMs: 4,
  stallMs: 500,
  callTimeoutMs: 60_000,
};
/** Only a peer that never responds is given up. */
const SILENT_MS = 500;

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

function respondWith(page: string) {
  return createHttp2Server((_, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end(page);
  });
}

const info = (numShards: number) =>
  ((_call: unknown, respond: (fault: null, info: GetInfoResponse) => void) =>
    respond(null, GetInfoResponse.fromPartial({ numShards }))) as never;

/** Peers that are not Farcaster nodes, with the reported reason. */
const PEERS: readonly (readonly [name: string, start: () => Promise<Peer>, reason: RegExp])[] = [
  [
    "a web server",
    async () => {
      const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("<html>") });
      return { url: `http://127.0.0.1:${server.port}`, stop: () => void server.stop(true) };
    },
    /^it does not support HTTP\/2, which gRPC needs; the gRPC port of a node is 3383/,
  ],
  [
    "a node of this program that follows only some fids",
    async () => {
      const node = await startTestHub(openIndexInMemory(), { reads: { followed: new Set([1]) } });
      return { url: `http://${node.address}`, stop: () => void node[Symbol.asyncDispose]() };
    },
    /^it follows only some fids \(its setting upstream\.fids\)$/,
  ],
  [
    "a server that sends first",
    () =>
      listening(createServer((socket) => void socket.on("error", () => {}).write("SSH-2.0-OpenSSH_9.6\r\n"))),
    /^it does not support HTTP\/2/,
  ],
  [
    "an HTTP/2 server that responds with 404",
    () =>
      listening(
        createHttp2Server((_, response) => {
          response.writeHead(404, { "content-type": "text/html" });
          response.end("not found");
        }),
      ),
    /^it responds with HTTP status 404 and not with gRPC/,
  ],
  [
    "an HTTP/2 server that responds to every path",
    () => listening(respondWith("<!doctype html><html></html>")),
    /^it responds with HTTP and not with gRPC/,
  ],
  [
    "an HTTP/2 server with a tiny response",
    () => listening(respondWith("ok")),
    /^it responds with HTTP and not with gRPC/,
  ],
  ["the gRPC of another service", () => hub({}), /^it supports gRPC but serves no HubService/],
  ["a node without shards", () => hub({ getInfo: info(0) }), /^it reports 0 shards$/],
  ["a node of two shards without blocks", () => hub({ getInfo: info(2) }), /^it does not serve GetBlocks/],
  [
    "a node of one shard without blocks and events",
    () => hub({ getInfo: info(1) }),
    /^it does not serve GetEvents$/,
  ],
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

test.each(PEERS)("reports %s once with the reason, and retries", async (_name, start, reason) => {
  const peer = await start();
  using db = openIndexInMemory();
  const reports: string[] = [];
  const faults: string[] = [];
  const first = Promise.withResolvers<void>();
  const retried = Promise.withResolvers<void>();
  let retries = 0;
  const follower = startFollower({
    urls: [peer.url],
    db: db,
    writer: { apply: async () => {}, buildStep: async () => undefined },
    network: 1,
    nameServer: undefined,
    clock: new ManualClock(1_700_000_000),
    fids: undefined,
    calls: callsAtOnce(1),
    timings: {
      ...TIMINGS,
      ...(/timed out/.test(reason.source) && { callTimeoutMs: SILENT_MS }),
      // Read before each retry.
      get retryMs() {
        if (reports.length > 0 && ++retries === 2) retried.resolve();
        return TIMINGS.retryMs;
      },
    },
    onFault: (what, cause) => faults.push(`${what}: ${cause}`),
    onPeerError: ({ message }) => {
      reports.push(message);
      first.resolve();
    },
  });
  // The first connection may fail as unreachable. Each later try has the same result.
  await first.promise;
  await retried.promise;
  const progress = follower.progress();
  await follower.stop();
  peer.stop();
  expect(reports).toHaveLength(1);
  expect(reports[0]?.startsWith(NOT_A_NODE)).toBe(true);
  expect(reports[0]?.slice(NOT_A_NODE.length)).toMatch(reason);
  expect(progress.peerError).toBe(reports[0] ?? "");
  expect(reports[0]).not.toContain("127.0.0.1");
  // A web server also closes connections silently, which is not evidence.
  expect(faults.filter((fault) => !fault.includes("UNAVAILABLE"))).toEqual([]);
});

test("temporary errors are not evidence that the peer is not a Farcaster node", () => {
  const fault = (code: status, details: string) => Object.assign(new Error(details), { code, details });
  for (const temporary of [
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
    expect(peerErrorOf("getInfo", temporary)).toBeUndefined();
  // A node that responded to GetInfo is one, however slow its other responses are.
  expect(peerErrorOf("getFids", fault(status.DEADLINE_EXCEEDED, "Deadline exceeded"))).toBeUndefined();
  // Peers of another implementation send no details.
  expect(peerErrorOf("subscribe", fault(status.UNIMPLEMENTED, ""))?.message).toContain("serve Subscribe");
});

test("the reason of a failed call has none of the wording of the gRPC library", () => {
  const reasons = [
    "14 UNAVAILABLE: No connection established. Last error: Error: connect ECONNREFUSED 127.0.0.1:1. Resolution note: ",
    "14 UNAVAILABLE: Name resolution failed for target dns:snapchain.example:3383",
    "14 UNAVAILABLE: closed",
  ].map((text) => reasonOfCall(new Error(text)));
  expect(reasons).toEqual([
    "connect ECONNREFUSED 127.0.0.1:1",
    "the name snapchain.example is not known to DNS",
    "UNAVAILABLE: closed",
  ]);
});

describe("what a peer is follows from its first response", () => {
  const fault = (code: status, details: string) => Object.assign(new Error(details), { code, details });
  const NO_NODE: readonly (readonly [method: string, code: status, details: string])[] = [
    ["subscribe", status.INTERNAL, "Received RST_STREAM with code 0 (Call ended without gRPC status)"],
    ["getEvents", status.UNIMPLEMENTED, "Received HTTP status code 404"],
    ["getInfo", status.UNAVAILABLE, "Protocol error"],
    ["getInfo", status.RESOURCE_EXHAUSTED, "Received message larger than max (1014001516 vs 67108864)"],
    ["getInfo", status.DEADLINE_EXCEEDED, "Deadline exceeded"],
  ];
  test.each(NO_NODE)("%s with code %d: %s", (method, code, details) => {
    expect(peerErrorOf(method, fault(code, details), new Set())).toBeDefined();
    expect(peerErrorOf(method, fault(code, details), new Set(["getInfo"]))).toBeUndefined();
  });

  test.each([
    ["subscribe", status.UNIMPLEMENTED],
    ["getFids", status.UNAUTHENTICATED],
  ])("whether it serves %s follows from the first response to that (code %d)", (method, code) => {
    expect(peerErrorOf(method, fault(code, ""), new Set(["getInfo"]))).toBeDefined();
    expect(peerErrorOf(method, fault(code, ""), new Set(["getInfo", method]))).toBeUndefined();
  });
});
