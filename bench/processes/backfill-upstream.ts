/** Serves a backfill set as an upstream node does; the first argument is its directory. Prints its port. */
import { join } from "node:path";
import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import {
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { toFarcasterSecs } from "../../src/protocol/time.ts";
import { Block, BlocksRequest } from "../../src/protocol/wire/generated/block.ts";
import {
  EventsRequest,
  GetInfoResponse,
  HubEvent,
  HubEventType,
  HubServiceService,
  SubscribeRequest,
} from "../../src/protocol/wire/generated/hub.ts";
import {
  FidsRequest,
  FidsResponse,
  FidTimestampRequest,
  OnChainEventRequest,
} from "../../src/protocol/wire/generated/state.ts";
import { DATA_SHARDS, shardOf } from "../../test/support/upstream/shards.ts";
import { FRAMES_FILE, GROUPS_FILE, type Group } from "../backfill-set.ts";

const FIRST_HEIGHT = 20_000_000;
const DEFAULT_PAGE = 10_000;

const dir = process.argv[2] ?? "";
const frames = Buffer.from(await Bun.file(join(dir, FRAMES_FILE)).arrayBuffer());
const groups: Group[] = await Bun.file(join(dir, GROUPS_FILE)).json();
const groupOf = new Map(groups.map((group) => [`${group.fid} ${group.request}`, group]));
const fids = [...new Set(groups.map(({ fid }) => fid))].sort((a, b) => a - b);
const startedMs = Date.now();

/** One empty block per second. */
const height = () => FIRST_HEIGHT + Math.floor((Date.now() - startedMs) / 1000);

function confirmed(shard: number, block: number): HubEvent {
  const timestamp = toFarcasterSecs(Math.floor(startedMs / 1000)) + block - FIRST_HEIGHT;
  return {
    type: HubEventType.HUB_EVENT_TYPE_BLOCK_CONFIRMED,
    id: block * 2 ** 14,
    blockNumber: block,
    shardIndex: shard,
    timestamp,
    body: {
      $case: "blockConfirmedBody",
      value: {
        blockNumber: block,
        shardIndex: shard,
        timestamp,
        blockHash: new Uint8Array(32),
        totalEvents: 1,
        eventCountsByType: { [HubEventType.HUB_EVENT_TYPE_BLOCK_CONFIRMED]: 1 },
        maxBlockEventSeqnum: 0,
      },
    },
  };
}

/** A page of frames from `offset` on, with the offset of the next one as its token. */
function pageOf(call: string, fid: number, request: { pageSize?: number; pageToken?: Uint8Array }): Buffer {
  const group = groupOf.get(`${fid} ${call}`);
  if (!group) return Buffer.alloc(0);
  const { pageSize = DEFAULT_PAGE, pageToken } = request;
  const from = pageToken?.length ? Number(Buffer.from(pageToken).toString()) : group.start;
  if (from === group.start && group.items <= pageSize) return frames.subarray(group.start, group.end);
  const reader = new BinaryReader(frames.subarray(from, group.end));
  for (let items = 0; items < pageSize && reader.pos < reader.len; items++) {
    reader.tag();
    reader.bytes();
  }
  const to = from + reader.pos;
  const page = frames.subarray(from, to);
  if (to === group.end) return page;
  return Buffer.concat([
    page,
    new BinaryWriter()
      .tag(2, 2)
      .bytes(Buffer.from(String(to)))
      .finish(),
  ]);
}

function eventsOf(request: EventsRequest): HubEvent[] {
  const { startId, stopId = Number.MAX_SAFE_INTEGER, shardIndex = 1, pageSize = 1000 } = request;
  const events: HubEvent[] = [];
  const first = Math.max(FIRST_HEIGHT - 100, Math.ceil(startId / 2 ** 14));
  for (let block = first; block <= height() && events.length < pageSize; block++)
    if (block * 2 ** 14 < stopId) events.push(confirmed(shardIndex, block));
  return events;
}

const unary: Record<string, (request: Buffer) => Uint8Array> = {
  getInfo: () =>
    GetInfoResponse.encode(
      GetInfoResponse.fromPartial({
        numShards: DATA_SHARDS.length,
        shardInfos: [0, ...DATA_SHARDS].map((shardId) => ({
          shardId,
          maxHeight: height(),
          numFidRegistrations: fids.filter((fid) => shardId !== 0 && shardOf(fid) === shardId).length,
        })),
      }),
    ).finish(),
  getFids: (bytes) => {
    const { shardId, pageSize = 1000, pageToken } = FidsRequest.decode(bytes);
    const own = fids.filter((fid) => shardOf(fid) === shardId);
    const from = pageToken?.length ? Number(Buffer.from(pageToken).toString()) : 0;
    const end = from + pageSize;
    const nextPageToken = end < own.length ? Buffer.from(String(end)) : undefined;
    return FidsResponse.encode({ fids: own.slice(from, end), nextPageToken }).finish();
  },
  getOnChainEvents: (bytes) => {
    const { fid, eventType } = OnChainEventRequest.decode(bytes);
    return pageOf(`GetOnChainEvents ${eventType}`, fid, {});
  },
  getEvents: (bytes) => {
    const writer = new BinaryWriter();
    for (const event of eventsOf(EventsRequest.decode(bytes)))
      writer.tag(1, 2).bytes(HubEvent.encode(event).finish());
    return writer.tag(2, 2).bytes(Buffer.from("[null]")).finish();
  },
  getSignersByFid: () => new Uint8Array(),
  getShardChunks: () => new Uint8Array(),
};

/** The remaining unary calls request pages of a fid's items by the name of the method. */
const PAGED = [
  "getUserNameProofsByFid",
  "getLinkCompactStateMessageByFid",
  "getAllCastMessagesByFid",
  "getAllReactionMessagesByFid",
  "getAllLinkMessagesByFid",
  "getAllVerificationMessagesByFid",
  "getAllUserDataMessagesByFid",
  "getAllLendStorageMessagesByFid",
];
for (const name of PAGED) {
  const call = `${name[0]?.toUpperCase()}${name.slice(1)}`;
  unary[name] = (bytes) => {
    const request = FidTimestampRequest.decode(bytes);
    return pageOf(call, request.fid, request);
  };
}

const asBuffer = (bytes: Buffer) => bytes;
const raw = {
  requestSerialize: asBuffer,
  requestDeserialize: asBuffer,
  responseSerialize: asBuffer,
  responseDeserialize: asBuffer,
};
const definition: Record<string, MethodDefinition<Buffer, Buffer>> = {};
const implementation: UntypedServiceImplementation = {};
for (const [name, respond] of Object.entries(unary)) {
  const described = HubServiceService[name as keyof typeof HubServiceService];
  definition[name] = { ...described, ...raw };
  implementation[name] = (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) => {
    const bytes = respond(call.request);
    callback(null, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  };
}
definition.subscribe = { ...HubServiceService.subscribe, ...raw };
implementation.subscribe = (call: ServerWritableStream<Buffer, Buffer>) => {
  const { shardIndex = 1 } = SubscribeRequest.decode(call.request);
  let reported = height();
  const timer = setInterval(() => {
    for (; reported < height(); reported++)
      call.write(Buffer.from(HubEvent.encode(confirmed(shardIndex, reported + 1)).finish()));
  }, 250);
  call.on("cancelled", () => clearInterval(timer));
};
definition.getBlocks = { ...HubServiceService.getBlocks, ...raw };
implementation.getBlocks = (call: ServerWritableStream<Buffer, Buffer>) => {
  const { startBlockNumber, stopBlockNumber = Number.MAX_SAFE_INTEGER } = BlocksRequest.decode(call.request);
  const end = Math.min(height() + 1, stopBlockNumber);
  for (let block = Math.max(startBlockNumber, FIRST_HEIGHT - 100); block < end; block++)
    call.write(blockAt(block));
  call.end();
};

function blockAt(block: number): Buffer {
  const timestamp = toFarcasterSecs(Math.floor(startedMs / 1000)) + block - FIRST_HEIGHT;
  const header = { height: { shardIndex: 0, blockNumber: block }, timestamp };
  return Buffer.from(
    Block.encode({ header, hash: new Uint8Array(32), transactions: [], events: [] }).finish(),
  );
}

const server = new Server();
server.addService(definition, implementation);
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (cause, port) => {
  if (cause) throw cause;
  process.stdout.write(`${port}\n`);
});
