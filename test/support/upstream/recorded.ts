import { join } from "node:path";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
} from "@grpc/grpc-js";
import { FrameDecoder } from "../../../src/import/framing.ts";
import { blockOfEvent } from "../../../src/protocol/hub-event-id.ts";
import {
  Block,
  BlocksRequest,
  ShardChunk,
  ShardChunksRequest,
  ShardChunksResponse,
} from "../../../src/protocol/wire/generated/block.ts";
import {
  EventsRequest,
  GetInfoRequest,
  GetInfoResponse,
  HubEvent,
  SubscribeRequest,
} from "../../../src/protocol/wire/generated/hub.ts";
import { FidsRequest } from "../../../src/protocol/wire/generated/state.ts";
import { OWN_LOOPBACK } from "../addresses.ts";

const RECORDED = join(import.meta.dir, "../../api/v1/reference");
const DATA_SHARDS = [1, 2];

/** A recorded file of the reference node, decompressed. */
export async function recorded(name: string): Promise<Uint8Array> {
  return Bun.zstdDecompressSync(await Bun.file(join(RECORDED, `${name}.zst`)).bytes());
}

async function frames(name: string): Promise<Uint8Array[]> {
  return new FrameDecoder(0).push(await recorded(name)).map(({ payload }) => payload);
}

/** The chain of a recorded network. Blocks and events are the bytes that the reference node sent. */
interface Recording {
  readonly blocks: readonly { readonly number: number; readonly bytes: Uint8Array }[];
  readonly chunks: ReadonlyMap<number, readonly ShardChunk[]>;
  readonly events: ReadonlyMap<number, readonly { readonly id: number; readonly bytes: Uint8Array }[]>;
}

async function readRecording(lastBlock: number): Promise<Recording> {
  const blocks = (await frames("blocks-of-shard-0.bin")).map((bytes) => ({
    number: Block.decode(bytes).header?.height?.blockNumber ?? 0,
    bytes,
  }));
  const chunks = new Map<number, ShardChunk[]>();
  const events = new Map<number, { id: number; bytes: Uint8Array }[]>();
  for (const shard of DATA_SHARDS) {
    chunks.set(
      shard,
      (await frames(`chunks-of-shard-${shard}.bin`)).map((bytes) => ShardChunk.decode(bytes)),
    );
    const all = (await frames(`hub-events-of-shard-${shard}.bin`)).map((bytes) => ({
      id: HubEvent.decode(bytes).id,
      bytes,
    }));
    events.set(
      shard,
      all.filter(({ id }) => blockOfEvent(id) <= lastBlock),
    );
  }
  return { blocks, chunks, events };
}

/** A recorded network over gRPC. It is at genesis, without fids and blocks, until its fids have been listed. */
export interface RecordedUpstream extends Disposable {
  readonly url: string;
  /** The newest block of each shard. */
  readonly heads: ReadonlyMap<number, number>;
}

/** @param lastBlock the last block that the data shards have. */
export async function startRecordedUpstream(lastBlock: number): Promise<RecordedUpstream> {
  const { blocks, chunks, events } = await readRecording(lastBlock);
  const heads = new Map([
    [0, blocks.at(-1)?.number ?? 0],
    ...DATA_SHARDS.map((shard) => [shard, lastBlock] as const),
  ]);
  let listed = 0;
  const isGenesis = () => listed < DATA_SHARDS.length;
  const server = new Server();
  server.addService(
    {
      getInfo: raw("GetInfo", GetInfoRequest),
      getFids: raw("GetFids", FidsRequest),
      getEvents: raw("GetEvents", EventsRequest),
      getShardChunks: raw("GetShardChunks", ShardChunksRequest),
      getBlocks: { ...raw("GetBlocks", BlocksRequest), responseStream: true },
      subscribe: { ...raw("Subscribe", SubscribeRequest), responseStream: true },
    },
    {
      getInfo: unary(() => {
        const shardInfos = [...heads].map(([shardId, head]) => ({
          shardId,
          maxHeight: isGenesis() ? 0 : head,
        }));
        return GetInfoResponse.encode(
          GetInfoResponse.fromPartial({ numShards: DATA_SHARDS.length, shardInfos }),
        ).finish();
      }),
      getFids: unary(() => {
        listed += 1;
        return new Uint8Array();
      }),
      getEvents: unary(({ shardIndex, startId, stopId, pageSize = 1000 }: EventsRequest) => {
        const found = (events.get(shardIndex ?? 0) ?? []).filter(
          ({ id }) => id >= startId && isBelow(id, stopId),
        );
        const writer = new BinaryWriter();
        for (const { bytes } of isGenesis() ? [] : found.slice(0, pageSize))
          writer.tag(1, WireType.LengthDelimited).bytes(bytes);
        return writer.finish();
      }),
      getShardChunks: unary(({ shardId, startBlockNumber, stopBlockNumber }: ShardChunksRequest) => {
        const shardChunks = (chunks.get(shardId) ?? []).filter(({ header }) => {
          const number = header?.height?.blockNumber ?? 0;
          return number >= startBlockNumber && isBelow(number, stopBlockNumber);
        });
        return ShardChunksResponse.encode({ shardChunks }).finish();
      }),
      getBlocks(call: ServerWritableStream<BlocksRequest, Uint8Array>) {
        const { startBlockNumber, stopBlockNumber } = call.request;
        for (const { number, bytes } of isGenesis() ? [] : blocks)
          if (number >= startBlockNumber && isBelow(number, stopBlockNumber)) call.write(bytes);
        call.end();
      },
      subscribe() {
        // Nothing happens any more.
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${OWN_LOOPBACK}:0`, ServerCredentials.createInsecure(), (cause, bound) =>
      cause ? reject(cause) : resolve(bound),
    );
  });
  return { url: `http://${OWN_LOOPBACK}:${port}`, heads, [Symbol.dispose]: () => server.forceShutdown() };
}

const isBelow = (value: number, stop: number | undefined) => stop === undefined || value < stop;

/** A method whose responses are bytes already. */
function raw<Request>(name: string, request: { decode(bytes: Uint8Array): Request }) {
  const refuse = () => {
    throw new Error("this is the server");
  };
  return {
    path: `/HubService/${name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: refuse,
    requestDeserialize: (bytes: Buffer) => request.decode(bytes),
    responseSerialize: (bytes: Uint8Array) => Buffer.from(bytes),
    responseDeserialize: refuse,
  };
}

function unary<Request>(respond: (request: Request) => Uint8Array) {
  return (call: ServerUnaryCall<Request, Uint8Array>, callback: sendUnaryData<Uint8Array>) =>
    callback(null, respond(call.request));
}
