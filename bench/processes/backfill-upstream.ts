/**
 * Serves a backfill set like an upstream node. The first argument is its directory, or the number of messages of a network
 * that is generated while it is read, which has only snapshots. Prints its port and, for each line of its input, the number
 * of unary calls since the previous line. The second argument is JSON with these options: `snapshots`: "yes" to serve
 * snapshots, "keys" to have a gasless key in each part of them; `latencyMs` before each response; `names`: "no" to leave out
 * the proofs of names, which the network's name server has not signed; `away`: an `Away` as JSON, whose blocks precede the
 * current ones.
 */
import { join } from "node:path";
import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import {
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
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
import { MessageType } from "../../src/protocol/wire/generated/message.ts";
import {
  type SnapshotEntry,
  SnapshotPage,
  SnapshotPageRequest,
  Snapshots,
  SnapshotsRequest,
  TrieNode,
  TrieNodeRequest,
} from "../../src/protocol/wire/generated/snapshot.ts";
import {
  FidsRequest,
  FidsResponse,
  FidTimestampRequest,
  OnChainEventRequest,
} from "../../src/protocol/wire/generated/state.ts";
import { messageKey, virtualShardOf } from "../../src/trust/trie-key.ts";
import { DATA_SHARDS, shardOf } from "../../test/support/upstream/shards.ts";
import { SnapshotTree } from "../../test/support/upstream/snapshot-tree.ts";
import { SNAPSHOT_METHODS } from "../../test/support/upstream/snapshots.ts";
import { type Away, awayMessages, eventsOfBlock } from "../away-blocks.ts";
import { FRAMES_FILE, GROUPS_FILE, type Group, MadeNetwork, VIRTUAL_SHARDS } from "../backfill-set.ts";
import { addEntries, type MadePart, NO_CONTENT } from "../made-part.ts";

const FIRST_HEIGHT = 20_000_000;
const DEFAULT_PAGE = 10_000;

const dir = process.argv[2] ?? "";
const options: { snapshots?: string; latencyMs?: string; names?: string; away?: string } = JSON.parse(
  process.argv[3] ?? "{}",
);
const startedMs = Date.now();
const endSecs = Math.floor(startedMs / 3_600_000) * 3600;
const made = /^\d+$/.test(dir) ? new MadeNetwork(Number(dir), { endSecs }) : undefined;
const stored = made ? Buffer.alloc(0) : Buffer.from(await Bun.file(join(dir, FRAMES_FILE)).arrayBuffer());
const allGroups: Group[] = made ? [] : await Bun.file(join(dir, GROUPS_FILE)).json();
const groups = allGroups.filter(
  ({ request }) => options.names !== "no" || request !== "GetUserNameProofsByFid",
);
const groupOf = new Map(groups.map((group) => [`${group.fid} ${group.request}`, group]));
const fids = made?.fids ?? [...new Set(groups.map(({ fid }) => fid))].sort((a, b) => a - b);

const away: Away | undefined = options.away === undefined ? undefined : JSON.parse(options.away);
const awayBlocks = away && awayMessages(away);
/** The block at the start. */
const firstHeight = away === undefined ? FIRST_HEIGHT : away.from + away.blocks;

/** One empty block per second. */
const height = () => firstHeight + Math.floor((Date.now() - startedMs) / 1000);

function confirmed(shard: number, block: number): HubEvent {
  const timestamp = toFarcasterSecs(Math.floor(startedMs / 1000)) + block - firstHeight;
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

/** Returns a page of frames from `offset` on, with the offset of the next one as its token. */
async function pageOf(
  call: string,
  fid: number,
  request: { pageSize?: number; pageToken?: Uint8Array },
): Promise<Uint8Array> {
  if (parts)
    return (await parts.get(virtualShardOf(fid))).groups.get(`${fid} ${call}`)?.frames ?? new Uint8Array();
  const group = groupOf.get(`${fid} ${call}`);
  if (!group) return new Uint8Array();
  const { pageSize = DEFAULT_PAGE, pageToken } = request;
  const from = pageToken?.length ? Number(Buffer.from(pageToken).toString()) : group.start;
  if (from === group.start && group.items <= pageSize) return stored.subarray(group.start, group.end);
  const reader = new BinaryReader(stored.subarray(from, group.end));
  for (let items = 0; items < pageSize && reader.pos < reader.len; items++) {
    reader.tag();
    reader.bytes();
  }
  const to = from + reader.pos;
  const page = stored.subarray(from, to);
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
  const first = Math.max(FIRST_HEIGHT - 100, Math.floor(startId / 2 ** 14));
  for (let block = first; block <= height() && events.length < pageSize; block++)
    for (const event of eventsOfBlock(
      confirmed(shardIndex, block),
      awayBlocks?.get(`${shardIndex} ${block}`) ?? [],
    ))
      if (event.id >= startId && event.id < stopId) events.push(event);
  return events.slice(0, pageSize);
}

/**
 * The proofs of the set are not signed by the name server, so a node requests each name again. These calls are not counted.
 */
class NoSuchName extends Error {}

const unary: Record<string, (request: Buffer) => Uint8Array | Promise<Uint8Array>> = {
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
  getUsernameProof: () => {
    throw new NoSuchName("no such name");
  },
};

/** The remaining unary calls request pages of an fid's items by the name of the method. */
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

/** Builds the tries of the snapshots. Gasless keys belong to the first fid of each virtual shard. */
function snapshotTrees(): ReadonlyMap<number, SnapshotTree> {
  const entries = new Map<number, SnapshotEntry[]>(DATA_SHARDS.map((shard) => [shard, []]));
  const withKeys = new Set<string>();
  for (const { fid, request, start, end } of groups) {
    const own = entries.get(shardOf(fid)) ?? [];
    const part = `${shardOf(fid)} ${virtualShardOf(fid)}`;
    if (options.snapshots === "keys" && !withKeys.has(part)) {
      withKeys.add(part);
      own.push({ ...NO_CONTENT, key: messageKey(fid, MessageType.MESSAGE_TYPE_KEY_ADD, new Uint8Array(20)) });
    }
    addEntries(own, request, stored.subarray(start, end));
  }
  return new Map([...entries].map(([shard, own]) => [shard, new SnapshotTree(own)]));
}

/** Number of virtual shards per shard that are made before the node requests them, and the number of parts kept. */
const MADE_AHEAD = 2;
const MADE_AT_A_TIME = 12;
const MAKERS = 2;

/** The parts of the generated network. Workers make them, in turn, before they are requested. */
class MadeParts {
  readonly #makers: Worker[];
  readonly #parts = new Map<number, Promise<MadePart>>();
  readonly #waiting = new Map<number, (part: MadePart) => void>();

  constructor(network: { readonly messages: number; readonly endSecs: number; readonly names: boolean }) {
    this.#makers = Array.from({ length: MAKERS }, () => {
      const maker = new Worker(new URL("./part-maker.ts", import.meta.url));
      maker.onmessage = ({ data }: MessageEvent<{ virtualShard: number; part: MadePart }>) => {
        this.#waiting.get(data.virtualShard)?.(data.part);
        this.#waiting.delete(data.virtualShard);
      };
      maker.postMessage(network);
      return maker;
    });
  }

  get(virtualShard: number): Promise<MadePart> {
    const part = this.#made(virtualShard);
    for (let ahead = 1; ahead <= MADE_AHEAD; ahead++) {
      const next = virtualShard + ahead * DATA_SHARDS.length;
      if (next < VIRTUAL_SHARDS) this.#made(next);
    }
    return part;
  }

  #made(virtualShard: number): Promise<MadePart> {
    const known = this.#parts.get(virtualShard);
    if (known) return known;
    const { promise, resolve } = Promise.withResolvers<MadePart>();
    this.#waiting.set(virtualShard, resolve);
    this.#makers[Math.floor(virtualShard / DATA_SHARDS.length) % MAKERS]?.postMessage(virtualShard);
    this.#parts.set(virtualShard, promise);
    const [oldest] = this.#parts.keys();
    if (this.#parts.size > MADE_AT_A_TIME && oldest !== undefined) this.#parts.delete(oldest);
    return promise;
  }
}

const parts = made && new MadeParts({ messages: Number(dir), endSecs, names: options.names !== "no" });

/**
 * Pages by request. They are encoded before the first call, so that this process has little to do while the node is
 * measured.
 */
const pages = new Map<string, Uint8Array>();
const trees = options.snapshots && !made ? snapshotTrees() : new Map<number, SnapshotTree>();
for (const [shard, tree] of trees)
  for (let virtualShard = 0; virtualShard < 256; virtualShard++)
    for (let token: string | undefined, isFirst = true; isFirst || token; isFirst = false)
      token = pageAt(shard, virtualShard, token, tree).next;

function pageAt(shard: number, virtualShard: number, token: string | undefined, tree: SnapshotTree) {
  try {
    const page = tree.page(virtualShard, token);
    pages.set(`${shard} ${virtualShard} ${token ?? ""}`, SnapshotPage.encode(page).finish());
    return { next: page.nextPageToken };
  } catch (cause) {
    return { next: undefined, cause: cause as Error };
  }
}

/** More than a generated shard has, but not more than a node has room for, because it is made later. */
const MADE_KEYS = (Number(dir) * 2) / DATA_SHARDS.length + 10 * fids.length;

if (options.snapshots) {
  unary.getShardSnapshotMetadata = (bytes) => {
    const { shard } = SnapshotsRequest.decode(bytes);
    const timestamp = toFarcasterSecs(Math.floor(startedMs / 1000));
    const snapshot = {
      shard,
      height: FIRST_HEIGHT,
      timestamp,
      chunk: undefined,
      keys: trees.get(shard)?.keys ?? MADE_KEYS,
    };
    return Snapshots.encode({ snapshots: [snapshot] }).finish();
  };
  unary.getShardTransactions = async (bytes) => {
    const { shard, virtualShard, pageToken } = SnapshotPageRequest.decode(bytes);
    if (parts) {
      const isHome = virtualShard % DATA_SHARDS.length === shard - 1;
      const part = isHome ? await parts.get(virtualShard) : undefined;
      return part?.pages.get(pageToken ?? "") ?? new Uint8Array();
    }
    const known = pages.get(`${shard} ${virtualShard} ${pageToken ?? ""}`);
    const tree = trees.get(shard);
    if (known || !tree) return known ?? new Uint8Array();
    const { cause } = pageAt(shard, virtualShard, pageToken, tree);
    if (cause) throw cause;
    return pages.get(`${shard} ${virtualShard} ${pageToken ?? ""}`) ?? new Uint8Array();
  };
  unary.getTrieMetadataByPrefix = (bytes) => {
    const { shard, prefix } = TrieNodeRequest.decode(bytes);
    return TrieNode.encode(trees.get(shard)?.node(prefix) ?? { children: [] }).finish();
  };
}

let calls = 0;
const definition: Record<string, MethodDefinition<Buffer, Buffer>> = {};
const implementation: UntypedServiceImplementation = {};
for (const [name, respond] of Object.entries(unary)) {
  const described =
    name in HubServiceService
      ? HubServiceService[name as keyof typeof HubServiceService]
      : SNAPSHOT_METHODS[name as keyof typeof SNAPSHOT_METHODS];
  definition[name] = { ...described, ...raw };
  implementation[name] = (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) => {
    if (name !== "getUsernameProof") calls += 1;
    const reply = async () => {
      try {
        const bytes = await respond(call.request);
        callback(null, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      } catch (cause) {
        const code = cause instanceof NoSuchName ? status.NOT_FOUND : status.INTERNAL;
        callback({ code, details: (cause as Error).message });
      }
    };
    if (options.latencyMs) setTimeout(reply, Number(options.latencyMs));
    else reply();
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
  const timestamp = toFarcasterSecs(Math.floor(startedMs / 1000)) + block - firstHeight;
  const header = { height: { shardIndex: 0, blockNumber: block }, timestamp };
  return Buffer.from(
    Block.encode({ header, hash: new Uint8Array(32), transactions: [], events: [] }).finish(),
  );
}

process.stdin.on("data", () => {
  process.stdout.write(`${calls}\n`);
  calls = 0;
});

const server = new Server();
server.addService(definition, implementation);
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (cause, port) => {
  if (cause) throw cause;
  process.stdout.write(`${port}\n`);
});
