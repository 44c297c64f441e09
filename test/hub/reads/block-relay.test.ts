import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  Client,
  type ClientReadableStream,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import { createAdmission } from "../../../src/admission/admission.ts";
import { createClientAddresses } from "../../../src/admission/client-address.ts";
import { createBlockRelay } from "../../../src/hub/reads/block-relay.ts";
import { Block, BlocksRequest, ShardChunksRequest } from "../../../src/protocol/wire/generated/block.ts";
import { HubServiceService } from "../../../src/protocol/wire/generated/hub.ts";
import { startTestHub, type TestHub } from "../../support/hub.ts";
import { type TemporaryIndex, temporaryIndex } from "../../support/temporary-index.ts";

const asBuffer = (bytes: Buffer) => bytes;
/** A block with a field that this node does not know. */
const UNKNOWN_FIELD = Buffer.of(0xfa, 0x07, 0x03, 1, 2, 3);

let upstream: Server;
let toUpstream: Client;
let index: TemporaryIndex;
let hub: TestHub;
let client: Client;
let open = 0;

const blockBytes = (height: number) =>
  Buffer.concat([
    Block.encode(
      Block.fromPartial({ header: { height: { shardIndex: 0, blockNumber: height }, timestamp: 1 } }),
    ).finish(),
    UNKNOWN_FIELD,
  ]);

beforeAll(async () => {
  upstream = new Server();
  const raw = {
    requestSerialize: asBuffer,
    requestDeserialize: asBuffer,
    responseSerialize: asBuffer,
    responseDeserialize: asBuffer,
  };
  upstream.addService(
    {
      getBlocks: { ...HubServiceService.getBlocks, ...raw },
      getShardChunks: { ...HubServiceService.getShardChunks, ...raw },
    },
    {
      getBlocks(call: import("@grpc/grpc-js").ServerWritableStream<Buffer, Buffer>) {
        const { startBlockNumber, stopBlockNumber } = BlocksRequest.decode(call.request);
        if (startBlockNumber === 13) {
          call.emit(
            "error",
            Object.assign(new Error("no"), { code: status.OUT_OF_RANGE, details: "too old" }),
          );
          return;
        }
        open += 1;
        call.once("close", () => (open -= 1));
        for (let at = startBlockNumber; at < (stopBlockNumber ?? startBlockNumber + 3); at++)
          call.write(blockBytes(at));
        if (stopBlockNumber !== undefined) call.end();
      },
      getShardChunks(
        call: import("@grpc/grpc-js").ServerUnaryCall<Buffer, Buffer>,
        callback: import("@grpc/grpc-js").sendUnaryData<Buffer>,
      ) {
        callback(null, Buffer.concat([call.request, UNKNOWN_FIELD]));
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) =>
    upstream.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (fault, bound) =>
      fault ? reject(fault) : resolve(bound),
    ),
  );
  toUpstream = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  index = temporaryIndex();
  hub = await startTestHub(index.path, {
    deps: {
      blocks: createBlockRelay(() => toUpstream, createAdmission().budgets.blockRelays),
      clients: createClientAddresses({ trusted_proxies: ["127.0.0.0/8"], proxy_header: "x-forwarded-for" }),
    },
  });
  client = new Client(hub.address, credentials.createInsecure());
});

afterAll(async () => {
  client.close();
  await hub[Symbol.asyncDispose]();
  toUpstream.close();
  upstream.forceShutdown();
  index[Symbol.dispose]();
});

/** @param address of the client, which calls through a proxy. */
function blocks(start: number, stop?: number, address = "203.0.113.1"): ClientReadableStream<Buffer> {
  const metadata = new Metadata();
  metadata.set("x-forwarded-for", address);
  const request = Buffer.from(
    BlocksRequest.encode({ startBlockNumber: start, stopBlockNumber: stop }).finish(),
  );
  return client.makeServerStreamRequest("/HubService/GetBlocks", asBuffer, asBuffer, request, metadata, {});
}

test("blocks are passed on as the bytes that the upstream sent, and end with its stream", async () => {
  const received: string[] = [];
  for await (const block of blocks(5, 405)) received.push(Buffer.from(block).toString("hex"));
  expect(received).toEqual(Array.from({ length: 400 }, (_, at) => blockBytes(5 + at).toString("hex")));
});

test("an error of the upstream is passed on with its code and text", async () => {
  const stream = blocks(13);
  const error = await new Promise<ServiceError>((resolve) => stream.once("error", resolve));
  expect([error.code, error.details]).toEqual([status.OUT_OF_RANGE, "too old"]);
});

test("eight streams run at a time, four of one client, and one each of two others; one that its client cancels ends at the upstream and makes room", async () => {
  const clients = ["203.0.113.1", "203.0.113.2"];
  const streams = clients.flatMap((address) =>
    Array.from({ length: 4 }, (_, at) => blocks(100 + at, undefined, address)),
  );
  for (const stream of streams) stream.on("error", () => {});
  await Promise.all(streams.map((stream) => new Promise((resolve) => stream.once("data", resolve))));
  for (const address of ["203.0.113.3", "203.0.113.4"]) {
    const stream = blocks(150, undefined, address).on("error", () => {});
    streams.push(stream);
    await new Promise((resolve) => stream.once("data", resolve));
  }
  const errorOf = (address: string) =>
    new Promise<ServiceError>((resolve) => blocks(200, undefined, address).once("error", resolve));
  const refusals = await Promise.all(["203.0.113.1", "203.0.113.5"].map(errorOf));
  expect(refusals.map(({ code, details }) => [code, details])).toEqual([
    [status.RESOURCE_EXHAUSTED, "too many block relays of this client are in flight; try again"],
    [status.RESOURCE_EXHAUSTED, "too many block relays are in flight; try again"],
  ]);
  for (const stream of streams) stream.cancel();
  while (open > 0) await new Promise((resolve) => setImmediate(resolve));
  const received: Buffer[] = [];
  for (let tries = 0; received.length === 0 && tries < 1000; tries++) {
    const again = blocks(300, 301);
    try {
      for await (const block of again) received.push(block);
    } catch (cause) {
      expect((cause as ServiceError).code).toBe(status.RESOURCE_EXHAUSTED);
    }
  }
  expect(received.length).toBe(1);
});

test("chunks are passed on as bytes; without a stop, or more than a hundred, they are refused", async () => {
  const chunks = (startBlockNumber: number, stopBlockNumber: number | undefined) => {
    const request = Buffer.from(
      ShardChunksRequest.encode({ shardId: 1, startBlockNumber, stopBlockNumber }).finish(),
    );
    const { promise, resolve } = Promise.withResolvers<Buffer | ServiceError>();
    client.makeUnaryRequest("/HubService/GetShardChunks", asBuffer, asBuffer, request, (fault, response) =>
      resolve(fault ?? response ?? Buffer.alloc(0)),
    );
    return promise;
  };
  const relayed = await chunks(7, 107);
  expect(Buffer.from(relayed as Buffer).subarray(-6)).toEqual(UNKNOWN_FIELD);
  expect(await chunks(7, 108)).toHaveProperty("code", status.INVALID_ARGUMENT);
  expect(await chunks(7, undefined)).toHaveProperty("code", status.INVALID_ARGUMENT);
});
