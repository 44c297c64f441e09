import { describe, expect, test } from "bun:test";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { openIndexInMemory } from "../../src/db/index/database.ts";
import { SignedBlock, SignedChunk, SignedChunks } from "../../src/protocol/wire/generated/certificate.ts";
import { GetInfoResponse, HubServiceService } from "../../src/protocol/wire/generated/hub.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { FidsResponse, SignersByFidResponse } from "../../src/protocol/wire/generated/state.ts";
import {
  ConcernedByChunks,
  FollowedBlock,
  FollowedEvent,
  FollowedEvents,
  FollowedMessages,
  FollowedNames,
  FollowedOnChainEvents,
} from "../../src/protocol/wire/generated/upstream.ts";
import { ValidatorSets } from "../../src/trust/validator-sets.ts";
import { createUpstreamClient } from "../../src/upstream/calls/client.ts";
import { connectUpstream } from "../../src/upstream/calls/connection.ts";
import { BoundedReader, TOO_MANY_FIELDS } from "../../src/upstream/calls/decode/bounded-reader.ts";
import { decodeSnapshotPage } from "../../src/upstream/calls/decode/codecs.ts";
import { createChainVerifier } from "../../src/upstream/chain/chain-verifier.ts";
import { Forks } from "../../src/upstream/chain/forks.ts";
import { TrustTracker } from "../../src/upstream/chain/trust-tracker.ts";
import { DEFAULT_TIMINGS } from "../../src/upstream/timings.ts";
import { ManualClock } from "../support/clock.ts";
import { serveRecording } from "../support/upstream/recorded.ts";
import { chain, validators } from "../support/upstream/recorded-nodes.ts";

const TIMINGS = { ...DEFAULT_TIMINGS, callTimeoutMs: 60_000, stallMs: 60_000 };

/** Empty items in the last field of a path of fields, each in one message of the field before it. */
function itemsAt(path: readonly number[], items: number): Uint8Array {
  const field = path.at(-1) ?? 0;
  let bytes: Uint8Array = Buffer.alloc(2 * items).fill(Buffer.from([8 * field + 2, 0]));
  for (const outer of path.slice(0, -1).reverse())
    bytes = new BinaryWriter()
      .uint32(8 * outer + 2)
      .bytes(bytes)
      .finish();
  return bytes;
}

/** A page of fids, which have one byte each. */
const fids = (count: number) =>
  FidsResponse.encode({ fids: Array(count).fill(1), nextPageToken: undefined }).finish();

describe("a response of a followed node", () => {
  const codecs = {
    GetInfoResponse,
    SignersByFidResponse,
    FollowedMessages,
    FollowedNames,
    FollowedOnChainEvents,
    FollowedEvents,
    FollowedEvent,
    FollowedBlock,
    ConcernedByChunks,
    SignedChunks,
    SignedBlock,
  };
  test.each([
    ["GetInfoResponse", [9]],
    ["SignersByFidResponse", [1]],
    ["FollowedMessages", [1]],
    ["FollowedNames", [1]],
    ["FollowedOnChainEvents", [1]],
    ["FollowedEvents", [1]],
    ["FollowedEvents", [1, 3, 2]],
    ["FollowedEvent", [3, 2]],
    ["FollowedBlock", [6]],
    ["ConcernedByChunks", [1, 3]],
    ["ConcernedByChunks", [1, 3, 3]],
    ["SignedChunks", [1]],
    ["SignedChunks", [1, 3, 3]],
    ["SignedChunks", [1, 4, 4]],
    ["SignedBlock", [4, 4]],
    ["SignedBlock", [6]],
    ["SignedBlock", [99]],
  ] as const)("%s may have items at the path %p up to the limit, and no more", (name, path) => {
    const bytes = itemsAt(path, 100);
    const most = 2 * (path.length - 1) + 2 * 100;
    expect(() => codecs[name].decode(new BoundedReader(bytes, most))).not.toThrow();
    expect(() => codecs[name].decode(new BoundedReader(bytes, most - 1))).toThrow(TOO_MANY_FIELDS);
  });

  test("packed integers count, too", () => {
    expect(FidsResponse.decode(new BoundedReader(fids(100), 102)).fids).toHaveLength(100);
    expect(() => FidsResponse.decode(new BoundedReader(fids(100), 101))).toThrow(TOO_MANY_FIELDS);
  });
});

test("a page of a snapshot that is larger than the limit is refused without decoding it", () => {
  expect(decodeSnapshotPage(new BoundedReader(new Uint8Array()), 4).entries).toEqual([]);
  const large = new BoundedReader(Buffer.alloc(5).fill(0x0a));
  expect(() => decodeSnapshotPage(large, 4)).toThrow("a page of a snapshot has 5 bytes");
});

test("a page, a stream and chunks of a hostile node with too many items at any depth are an error of the call", async () => {
  const server = new Server();
  const raw = (bytes: Uint8Array) => () => Buffer.from(bytes);
  const { getFids, getShardChunks, getBlocks, subscribe } = HubServiceService;
  const signatures = itemsAt([1, 4, 4], 3e5);
  server.addService(
    {
      getFids: { ...getFids, responseSerialize: raw(fids(6e5)) },
      getShardChunks: { ...getShardChunks, responseSerialize: raw(signatures) },
      getBlocks: { ...getBlocks, responseSerialize: raw(itemsAt([6], 3e5)) },
      subscribe: { ...subscribe, responseSerialize: raw(itemsAt([3, 2], 3e5)) },
    },
    {
      getFids: (_: unknown, respond: (error: null, value: object) => void) => respond(null, {}),
      getShardChunks: (_: unknown, respond: (error: null, value: object) => void) => respond(null, {}),
      getBlocks: (call: { write(value: object): void }) => call.write({}),
      subscribe: (call: { write(value: object): void }) => call.write({}),
    },
  );
  const port = await new Promise<number>((resolve) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (_, bound) => resolve(bound));
  });
  const connection = connectUpstream(`http://127.0.0.1:${port}`);
  const client = createUpstreamClient(connection, TIMINGS, new AbortController().signal);
  try {
    await expect(client.fids(1, undefined)).rejects.toThrow(TOO_MANY_FIELDS);
    await expect(client.signedChunks(1, 1, 2)).rejects.toThrow(TOO_MANY_FIELDS);
    await expect(client.chunks(1, 1, 2)).resolves.toHaveLength(1);
    using blocks = client.blocks(1);
    await expect(blocks.next()).rejects.toThrow(TOO_MANY_FIELDS);
    using events = client.subscribe(1);
    await expect(events.next()).rejects.toThrow(TOO_MANY_FIELDS);
  } finally {
    connection.close();
    server.forceShutdown();
  }
}, 60_000);

test("blocks that have too many fields together are read one by one", async () => {
  const last = 3;
  // Fields that this version does not know.
  const padding = Buffer.alloc(400_000).fill(Buffer.from([8 * 15 + 2, 0]));
  const shard = (chain.chunks.get(1) ?? []).slice(0, last);
  const padded = shard.map(({ number, bytes }) => ({ number, bytes: Buffer.concat([bytes, padding]) }));
  using served = await serveRecording(
    () => ({ ...chain, chunks: new Map([[1, padded]]) }),
    new Map([[1, last]]),
  );
  using db = openIndexInMemory();
  const { signal } = new AbortController();
  const connection = connectUpstream(served.url);
  const verifier = createChainVerifier({
    client: createUpstreamClient(connection, TIMINGS, signal),
    db,
    network: FarcasterNetwork.FARCASTER_NETWORK_DEVNET,
    clock: new ManualClock(1_795_423_200),
    sets: new ValidatorSets([validators]),
    readSets: () => undefined,
    onUnknownSet: "stop",
    tracker: new TrustTracker(),
    forks: new Forks({ dir: undefined, timings: TIMINGS, onFork: () => {} }),
    timings: TIMINGS,
    signal,
    onFault: (_, cause) => {
      throw cause;
    },
  });
  const blocks = shard.map(({ number, bytes }) => {
    const { header, hash } = SignedChunk.decode(bytes);
    return { number, timestamp: header?.timestamp ?? 0, hash, seqnum: 0, events: [] };
  });
  const { heads } = await verifier.shardBlocks(1, blocks);
  connection.close();
  expect(heads.map(({ certified }) => certified)).toEqual([last]);
});
