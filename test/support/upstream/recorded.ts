import { join } from "node:path";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import {
  type Client,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import { FrameDecoder } from "../../../src/import/record-file.ts";
import { blockOfEvent } from "../../../src/protocol/hub-event-id.ts";
import {
  Block,
  BlocksRequest,
  ShardChunk,
  ShardChunksRequest,
} from "../../../src/protocol/wire/generated/block.ts";
import {
  EventsRequest,
  GetInfoRequest,
  GetInfoResponse,
  HubEvent,
  SubscribeRequest,
} from "../../../src/protocol/wire/generated/hub.ts";
import {
  FidsRequest,
  OnChainEventRequest,
  OnChainEventResponse,
} from "../../../src/protocol/wire/generated/state.ts";
import { OWN_LOOPBACK } from "../addresses.ts";
import { vectorList } from "../vectors.ts";
import type { RecordedAccounts } from "./recorded-accounts.ts";

const RECORDED = join(import.meta.dir, "../../api/v1/reference");
const DATA_SHARDS = [1, 2];

/** A recorded file of the reference node, decompressed. */
export async function recorded(name: string): Promise<Uint8Array> {
  return Bun.zstdDecompressSync(await Bun.file(join(RECORDED, `${name}.zst`)).bytes());
}

async function frames(name: string): Promise<Uint8Array[]> {
  return new FrameDecoder(0).push(await recorded(name)).map(({ payload }) => payload);
}

interface RecordedBlock {
  readonly number: number;
  readonly bytes: Uint8Array;
}

/** The chain of a recorded network. Blocks and events are the bytes that the reference node sent. */
export interface Recording {
  readonly blocks: readonly RecordedBlock[];
  /** By shard, as `events`. */
  readonly chunks: ReadonlyMap<number, readonly RecordedBlock[]>;
  readonly events: ReadonlyMap<number, readonly { readonly id: number; readonly bytes: Uint8Array }[]>;
}

/** Reads the recorded chain of the responses of `/v1`. */
async function readReference(lastBlock: number): Promise<Recording> {
  const blocks = (await frames("blocks-of-shard-0.bin")).map(blockOf);
  const chunks = new Map<number, RecordedBlock[]>();
  const events = new Map<number, { id: number; bytes: Uint8Array }[]>();
  for (const shard of DATA_SHARDS) {
    chunks.set(shard, (await frames(`chunks-of-shard-${shard}.bin`)).map(chunkOf));
    const all = (await frames(`hub-events-of-shard-${shard}.bin`)).map(eventOf);
    events.set(
      shard,
      all.filter(({ id }) => blockOfEvent(id) <= lastBlock),
    );
  }
  return { blocks, chunks, events };
}

/** Reads a recorded chain of `test/trust/vectors`. */
export function recordedChain(folder: string): Recording {
  const lists = (name: string) =>
    DATA_SHARDS.map((shard) => [shard, vectorList(`${folder}${name}-${shard}.bin`)] as const);
  return {
    blocks: vectorList(`${folder}chain-shard-0.bin`).map(blockOf),
    chunks: new Map(lists("chain-shard").map(([shard, list]) => [shard, list.map(chunkOf)])),
    events: new Map(lists("hub-events-shard").map(([shard, list]) => [shard, list.map(eventOf)])),
  };
}

const blockOf = (bytes: Uint8Array) => ({
  number: Block.decode(bytes).header?.height?.blockNumber ?? 0,
  bytes,
});
const chunkOf = (bytes: Uint8Array) => ({
  number: ShardChunk.decode(bytes).header?.height?.blockNumber ?? 0,
  bytes,
});
const eventOf = (bytes: Uint8Array) => ({ id: HubEvent.decode(bytes).id, bytes });

/** A recorded network over gRPC. It is at genesis, without fids and blocks, until its fids have been listed. */
export interface RecordedUpstream extends Disposable {
  readonly url: string;
  /** The newest block of each shard. */
  readonly heads: ReadonlyMap<number, number>;
}

/**
 * @param lastBlock the last block that the data shards have.
 * @param options.firstBlock the first block of shard 0 that is not deleted. Default: all are there.
 * @param options.isListed whether its fids have been listed, so that it is not at genesis.
 * @param options.channels see `serveRecording`.
 */
export async function startRecordedUpstream(
  lastBlock: number,
  {
    firstBlock = 0,
    isListed = false,
    channels,
  }: { readonly firstBlock?: number; readonly isListed?: boolean; readonly channels?: Client } = {},
): Promise<RecordedUpstream> {
  const whole = await readReference(lastBlock);
  const recording = { ...whole, blocks: whole.blocks.filter(({ number }) => number >= firstBlock) };
  const heads = new Map([
    [0, recording.blocks.at(-1)?.number ?? 0],
    ...DATA_SHARDS.map((shard) => [shard, lastBlock] as const),
  ]);
  const listing = { count: isListed ? DATA_SHARDS.length : 0 };
  return serveRecording(() => recording, heads, { channels, listing });
}

/**
 * @param recording returns the chain of now.
 * @param heads the newest block of each shard. A test may change it.
 * @param options.listing counts the lists of fids, which end genesis. Servers of one network share it. Default: its own.
 * @param options.announced the newest block of each shard as GetInfo says, of a node whose proxy keeps the response. Default: `heads`.
 * @param options.beforeResponse resolves when the server may respond to a call of a method. Default: at once.
 * @param options.accounts the state that it serves; it is then not at genesis. Default: it serves its chain only.
 * @param options.channels serves the reads of channels. Default: they are not served.
 * @param options.hasBlockShard false for a node that numbers its blocks itself: it has one shard, and serves no blocks of shard 0.
 */
export async function serveRecording(
  recording: () => Recording,
  heads: ReadonlyMap<number, number>,
  {
    hasBlockShard = true,
    /** The response to GetConnectedPeers, encoded. */
    contacts = (): Uint8Array => new Uint8Array(),
    listing = { count: 0 },
    announced = () => heads,
    beforeResponse = async (_method: string) => {},
    accounts = undefined as RecordedAccounts | undefined,
    channels = undefined as Client | undefined,
  } = {},
): Promise<RecordedUpstream> {
  const isUpTo = (shard: number) => (number: number) => number <= (heads.get(shard) ?? 0);
  const isGenesis = () => !accounts && listing.count < (hasBlockShard ? DATA_SHARDS.length : 1);
  const server = new Server();
  server.addService(
    {
      getInfo: rawMethod("GetInfo", GetInfoRequest),
      ...(!accounts && { getFids: rawMethod("GetFids", FidsRequest) }),
      getEvents: rawMethod("GetEvents", EventsRequest),
      getShardChunks: rawMethod("GetShardChunks", ShardChunksRequest),
      ...(!accounts && { getOnChainEvents: rawMethod("GetOnChainEvents", OnChainEventRequest) }),
      getConnectedPeers: rawMethod("GetConnectedPeers", GetInfoRequest),
      getBlocks: { ...rawMethod("GetBlocks", BlocksRequest), responseStream: true },
      subscribe: { ...rawMethod("Subscribe", SubscribeRequest), responseStream: true },
    },
    {
      getInfo: unary(
        () => beforeResponse("GetInfo"),
        () => {
          const shardInfos = [...announced()]
            .filter(([shard]) => hasBlockShard || shard === 1)
            .map(([shardId, head]) => ({
              shardId,
              maxHeight: isGenesis() ? 0 : head,
              numFidRegistrations: shardId > 0 ? (accounts?.fids(shardId).length ?? 0) : 0,
            }));
          return GetInfoResponse.encode(
            GetInfoResponse.fromPartial({ numShards: hasBlockShard ? DATA_SHARDS.length : 1, shardInfos }),
          ).finish();
        },
      ),
      getConnectedPeers: unary(() => beforeResponse("GetConnectedPeers"), contacts),
      getFids: unary(
        () => beforeResponse("GetFids"),
        () => {
          listing.count += 1;
          return new Uint8Array();
        },
      ),
      getEvents: unary(
        () => beforeResponse("GetEvents"),
        ({ shardIndex, startId, stopId, pageSize = 1000 }: EventsRequest) => {
          const shard = shardIndex ?? 0;
          const found = (recording().events.get(shard) ?? []).filter(
            ({ id }) => id >= startId && isBelow(id, stopId) && isUpTo(shard)(blockOfEvent(id)),
          );
          const writer = new BinaryWriter();
          for (const { bytes } of isGenesis() ? [] : found.slice(0, pageSize))
            writer.tag(1, WireType.LengthDelimited).bytes(bytes);
          return writer.finish();
        },
      ),
      getShardChunks: unary(
        () => beforeResponse("GetShardChunks"),
        ({ shardId, startBlockNumber, stopBlockNumber }: ShardChunksRequest) => {
          const writer = new BinaryWriter();
          for (const { number, bytes } of recording().chunks.get(shardId) ?? [])
            if (number >= startBlockNumber && isBelow(number, stopBlockNumber) && isUpTo(shardId)(number))
              writer.tag(1, WireType.LengthDelimited).bytes(bytes);
          return writer.finish();
        },
      ),
      getOnChainEvents: unary(
        () => beforeResponse("GetOnChainEvents"),
        ({ fid, eventType }: OnChainEventRequest) => {
          const found = [...recording().events].flatMap(([shard, all]) =>
            all.flatMap(({ id, bytes }) => {
              if (!isUpTo(shard)(blockOfEvent(id))) return [];
              const { body } = HubEvent.decode(bytes);
              const event = body?.$case === "mergeOnChainEventBody" ? body.value.onChainEvent : undefined;
              return event?.fid === fid && event.type === eventType ? [event] : [];
            }),
          );
          return OnChainEventResponse.encode(OnChainEventResponse.fromPartial({ events: found })).finish();
        },
      ),
      async getBlocks(call: ServerWritableStream<BlocksRequest, Uint8Array>) {
        await beforeResponse("GetBlocks");
        if (!hasBlockShard) return void call.emit("error", { code: status.UNIMPLEMENTED, details: "" });
        const { startBlockNumber, stopBlockNumber } = call.request;
        for (const { number, bytes } of isGenesis() ? [] : recording().blocks)
          if (number >= startBlockNumber && isBelow(number, stopBlockNumber) && isUpTo(0)(number))
            call.write(bytes);
        call.end();
      },
      subscribe(call: ServerWritableStream<SubscribeRequest, Uint8Array>) {
        const shard = call.request.shardIndex ?? 0;
        let sent = heads.get(shard) ?? 0;
        // A test moves the heads.
        const timer = setInterval(async () => {
          await beforeResponse("Subscribe");
          const head = heads.get(shard) ?? 0;
          for (const { id, bytes } of head > sent ? (recording().events.get(shard) ?? []) : [])
            if (blockOfEvent(id) > sent && blockOfEvent(id) <= head) call.write(bytes);
          sent = Math.max(sent, head);
        }, 5);
        call.on("cancelled", () => clearInterval(timer));
        call.on("close", () => clearInterval(timer));
      },
    },
  );
  accounts?.serve(server);
  if (channels)
    for (const name of CHANNEL_READS)
      server.addService(
        { [name]: rawMethod(name, AS_BYTES) },
        {
          [name]: (call: ServerUnaryCall<Uint8Array, Uint8Array>, callback: sendUnaryData<Uint8Array>) =>
            channels.makeUnaryRequest(
              `/HubService/${name}`,
              Buffer.from,
              Buffer.from,
              call.request,
              callback,
            ),
        },
      );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${OWN_LOOPBACK}:0`, ServerCredentials.createInsecure(), (cause, bound) =>
      cause ? reject(cause) : resolve(bound),
    );
  });
  return { url: `http://${OWN_LOOPBACK}:${port}`, heads, [Symbol.dispose]: () => server.forceShutdown() };
}

const CHANNEL_READS = [
  "GetChannelOwner",
  "GetChannelMetadata",
  "GetChannelPin",
  "GetChannelMembers",
  "GetChannelModerations",
];
const AS_BYTES = { decode: (bytes: Uint8Array) => bytes };

const isBelow = (value: number, stop: number | undefined) => stop === undefined || value < stop;

/** A method whose responses are bytes already. */
export function rawMethod<Request>(name: string, request: { decode(bytes: Uint8Array): Request }) {
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

function unary<Request>(beforeResponse: () => Promise<void>, respond: (request: Request) => Uint8Array) {
  return async (call: ServerUnaryCall<Request, Uint8Array>, callback: sendUnaryData<Uint8Array>) => {
    await beforeResponse();
    callback(null, respond(call.request));
  };
}
