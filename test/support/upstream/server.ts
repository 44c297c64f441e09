import { constants, type ServerHttp2Stream } from "node:http2";
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceError,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import type {
  Block,
  BlocksRequest,
  ShardChunksResponse,
} from "../../../src/protocol/wire/generated/block.ts";
import {
  type BulkMessageResponse,
  type HubEvent,
  type HubServiceServer,
  HubServiceService,
  type SubmitBulkMessagesResponse,
  type SubscribeRequest,
} from "../../../src/protocol/wire/generated/hub.ts";
import { type Message, MessageType as T } from "../../../src/protocol/wire/generated/message.ts";
import { CastsByParentRequest, LinksByTargetRequest } from "../../../src/protocol/wire/generated/reads.ts";
import type {
  SnapshotPageRequest,
  SnapshotsRequest,
  TrieNodeRequest,
} from "../../../src/protocol/wire/generated/snapshot.ts";
import { MessagesResponse } from "../../../src/protocol/wire/generated/state.ts";
import { OWN_LOOPBACK } from "../addresses.ts";
import type { DataBlock } from "./blocks.ts";
import { type Faults, NO_FAULTS } from "./faults.ts";
import { dataOf } from "./hub-events.ts";
import type { UpstreamNode } from "./node.ts";
import * as responses from "./responses.ts";
import { shardOf } from "./shards.ts";
import { type HeldSnapshots, SNAPSHOT_METHODS } from "./snapshots.ts";

const LISTS_OVER_SHARDS = {
  getLinksByTarget: listMethod("GetLinksByTarget", LinksByTargetRequest),
  getCastsByParent: listMethod("GetCastsByParent", CastsByParentRequest),
};

type EventStream = ServerWritableStream<SubscribeRequest, HubEvent>;

/** A received submit. */
export interface Submitted {
  readonly message: Message;
  /** The `authorization` header. */
  readonly authorization: string | undefined;
}

export interface UpstreamServerOptions {
  readonly faults?: Faults;
  /** The snapshots that it serves. Default: it has no replication service. */
  readonly snapshots?: HeldSnapshots;
  /** Called for each call. */
  readonly onCall?: () => void;
  /** Returns the `x-err-code` of a refused submit. If unset, all submits are accepted into the mempool. */
  readonly refuse?: (message: Message) => string | undefined;
}

/** Serves a scripted node over gRPC as the reference node does. It can be killed and restarted on its port. */
export class UpstreamServer {
  readonly submitted: Submitted[] = [];
  /** Calls so far. */
  served = 0;
  /** Undefined for a node without the service. */
  snapshots: HeldSnapshots | undefined;
  readonly #node: UpstreamNode;
  readonly #faults: Faults;
  readonly #onCall: () => void;
  readonly #refuse: (message: Message) => string | undefined;
  #server: Server | undefined;
  #port = 0;
  #streams = new Set<{ call: EventStream; shards: readonly number[]; isStalled: boolean }>();
  #held: (() => void)[] = [];

  constructor(node: UpstreamNode, options: UpstreamServerOptions = {}) {
    this.#node = node;
    this.snapshots = options.snapshots;
    this.#faults = options.faults ?? NO_FAULTS;
    this.#onCall = options.onCall ?? (() => undefined);
    this.#refuse = options.refuse ?? (() => undefined);
    node.onBlock((block) => this.#publish(block));
  }

  /** `http://<address>:<port>`, the same after a restart. */
  get url(): string {
    return `http://${OWN_LOOPBACK}:${this.#port}`;
  }

  async start(): Promise<void> {
    const server = new Server();
    server.addService(HubServiceService, this.#service());
    server.addService(LISTS_OVER_SHARDS, {
      getLinksByTarget: this.#unary((request: LinksByTargetRequest) =>
        responses.followsOf(this.#node, request),
      ),
      getCastsByParent: this.#unary((request: CastsByParentRequest) =>
        responses.castsBelow(this.#node, request),
      ),
    });
    const { snapshots } = this;
    if (snapshots)
      server.addService(SNAPSHOT_METHODS, {
        getShardSnapshotMetadata: this.#unary((request: SnapshotsRequest) => snapshots.list(request)),
        getShardTransactions: this.#unary((request: SnapshotPageRequest) => snapshots.page(request)),
        getTrieMetadataByPrefix: this.#unary((request: TrieNodeRequest) => snapshots.node(request)),
      });
    this.#port = await new Promise<number>((resolve, reject) => {
      server.bindAsync(`${OWN_LOOPBACK}:${this.#port}`, ServerCredentials.createInsecure(), (cause, port) =>
        cause ? reject(cause) : resolve(port),
      );
    });
    this.#server = server;
  }

  /** Stops as a killed process does: every call and stream breaks. */
  stop(): void {
    this.release();
    this.#streams.clear();
    this.#server?.forceShutdown();
    this.#server = undefined;
  }

  /** Releases the delayed calls. */
  release(): void {
    for (const respond of this.#held.splice(0)) respond();
  }

  #service(): HubServiceServer {
    const node = this.#node;
    const messages = (...types: T[]) =>
      this.#unary((request: { fid: number }) => responses.messagesOf(node, types, request));
    return {
      getInfo: this.#unary(() => responses.infoOf(node)),
      getFids: this.#unary((request) => responses.fidsOf(node, request), {
        fids: [],
        nextPageToken: undefined,
      }),
      getEvents: this.#unary((request) =>
        request.shardIndex === 0
          ? refusal(status.INVALID_ARGUMENT, "no such shard")
          : responses.eventsOf(node, request),
      ),
      getEvent: this.#unary(
        (request) => responses.eventOf(node, request) ?? refusal(status.INTERNAL, "event not found"),
      ),
      getShardChunks: this.#unary((request): ShardChunksResponse => {
        const { shardId, startBlockNumber, stopBlockNumber = Number.MAX_SAFE_INTEGER } = request;
        const within = ({ height }: DataBlock) => height >= startBlockNumber && height < stopBlockNumber;
        return {
          shardChunks: node
            .blocks(shardId, "chunks")
            .filter(within)
            .map(({ chunk }) => chunk),
        };
      }),
      getOnChainEvents: this.#unary((request) => ({
        events: responses.onChainEventsOf(node, request),
        nextPageToken: undefined,
      })),
      getSignersByFid: this.#unary((request) => responses.signersOf(node, request)),
      getUsernameProof: this.#unary(
        ({ name }) =>
          responses.nameProof(node, Buffer.from(name).toString()) ??
          refusal(status.NOT_FOUND, "no such name"),
      ),
      getUserNameProofsByFid: this.#unary(({ fid }) => ({ proofs: responses.nameProofsOf(node, fid) })),
      getLinkCompactStateMessageByFid: messages(T.MESSAGE_TYPE_LINK_COMPACT_STATE),
      getAllCastMessagesByFid: messages(T.MESSAGE_TYPE_CAST_ADD, T.MESSAGE_TYPE_CAST_REMOVE),
      getAllReactionMessagesByFid: messages(T.MESSAGE_TYPE_REACTION_ADD, T.MESSAGE_TYPE_REACTION_REMOVE),
      getAllLinkMessagesByFid: messages(T.MESSAGE_TYPE_LINK_ADD, T.MESSAGE_TYPE_LINK_REMOVE),
      getAllVerificationMessagesByFid: messages(
        T.MESSAGE_TYPE_VERIFICATION_ADD,
        T.MESSAGE_TYPE_VERIFICATION_REMOVE,
      ),
      getAllUserDataMessagesByFid: messages(T.MESSAGE_TYPE_USER_DATA_ADD),
      getAllLendStorageMessagesByFid: messages(T.MESSAGE_TYPE_LEND_STORAGE),
      submitMessage: this.#unary((message, metadata) => this.#submit(message, metadata)),
      submitBulkMessages: this.#unary(({ messages }, metadata) => this.#submitBulk(messages, metadata)),
      validateMessage: this.#unary((message) => ({ valid: true, message })),
      getBlocks: (call) => this.#sendBlocks(call),
      subscribe: (call) => this.#subscribe(call),
    };
  }

  /** A method that responds with the state at the time of the response, unless the call has a fault. */
  #unary<Request, Response>(
    respond: (request: Request, metadata: Metadata) => Response | ServiceError,
    empty?: Response,
  ) {
    return (call: ServerUnaryCall<Request, Response>, callback: sendUnaryData<Response>) => {
      const fault = this.#count(call.getPath(), call.request);
      const reply = () => {
        const result = respond(call.request, call.metadata);
        if (result instanceof Error) callback(result);
        else callback(null, result);
      };
      if (fault === "fail") callback(refusal(status.UNAVAILABLE, "the script says so"));
      else if (fault === "unserved") callback(refusal(status.UNIMPLEMENTED, ""));
      else if (fault === "hold") this.#held.push(reply);
      else if (fault === "empty" && empty) callback(null, empty);
      else reply();
    };
  }

  #count(path: string, request: unknown) {
    const method = path.slice(path.lastIndexOf("/") + 1);
    this.served += 1;
    this.#onCall();
    return this.#faults.onCall(method, request);
  }

  /** OK means that the message is queued, not that it is merged. */
  #submit(message: Message, metadata: Metadata): Message | ServiceError {
    this.submitted.push({ message, authorization: metadata.get("authorization")[0]?.toString() });
    const code = this.#refuse(message);
    if (code === undefined) return { ...message, data: dataOf(message) };
    const error = refusal(status.INVALID_ARGUMENT, code);
    error.metadata.set("x-err-code", code);
    return error;
  }

  /** Responds shard by shard, whatever the order of the request. A refused message fails all messages of its fid. */
  #submitBulk(messages: readonly Message[], metadata: Metadata): SubmitBulkMessagesResponse {
    const refused = new Map<number, string>();
    for (const message of messages) {
      const outcome = this.#submit(message, metadata);
      if (outcome instanceof Error) refused.set(dataOf(message).fid, outcome.details);
    }
    const byShard = messages.toSorted((a, b) => shardOf(dataOf(a).fid) - shardOf(dataOf(b).fid));
    return {
      messages: byShard.map((message): BulkMessageResponse => {
        const errCode = refused.get(dataOf(message).fid);
        return errCode === undefined
          ? { response: { $case: "message", value: { ...message, data: dataOf(message) } } }
          : { response: { $case: "messageError", value: { hash: message.hash, errCode, message: errCode } } };
      }),
    };
  }

  /** Streams the blocks of shard 0 up to the newest one, then ends. */
  #sendBlocks(call: ServerWritableStream<BlocksRequest, Block>): void {
    if (this.#count(call.getPath(), call.request) === "fail") {
      call.emit("error", refusal(status.UNAVAILABLE, "the script says so"));
      return;
    }
    const { startBlockNumber, stopBlockNumber = Number.MAX_SAFE_INTEGER } = call.request;
    for (const { height, block } of this.#node.zeroBlocks())
      if (height >= startBlockNumber && height < stopBlockNumber) call.write(block);
    call.end();
  }

  /** Streams stored events, if requested, then new ones. Events between the two are lost. */
  #subscribe(call: EventStream): void {
    if (this.#count(call.getPath(), call.request) === "unserved") {
      call.emit("error", refusal(status.UNIMPLEMENTED, ""));
      return;
    }
    const { shardIndex, fromId } = call.request;
    if (shardIndex === 0) {
      call.emit("error", refusal(status.INVALID_ARGUMENT, "no such shard"));
      return;
    }
    const shards = shardIndex === undefined ? [1, 2] : [shardIndex];
    if (fromId !== undefined) {
      for (const shard of shards)
        for (const event of responses.storedEvents(this.#node, shard, fromId, Number.MAX_SAFE_INTEGER))
          if (isWanted(call, event)) call.write(event);
    }
    const stream = { call, shards, isStalled: false };
    const attach = () => this.#streams.add(stream);
    if (fromId === undefined) attach();
    else setImmediate(attach);
    call.on("cancelled", () => this.#streams.delete(stream));
  }

  #publish(block: DataBlock): void {
    for (const stream of [...this.#streams]) {
      if (!stream.shards.includes(block.shard)) continue;
      for (const event of block.events) {
        if (stream.isStalled || !this.#streams.has(stream)) break;
        if (isWanted(stream.call, event)) this.#deliver(stream, block.shard, responses.delivered(event));
      }
    }
  }

  #deliver(
    stream: { call: EventStream; isStalled: boolean; shards: readonly number[] },
    shard: number,
    event: HubEvent,
  ) {
    const { call } = stream;
    switch (this.#faults.onDelivery(shard)) {
      case "skip":
        return;
      case "stall":
        stream.isStalled = true;
        return;
      case "cut":
        this.#streams.delete(stream);
        call.emit("error", refusal(status.UNAVAILABLE, "the script says so"));
        return;
      case "end":
        this.#streams.delete(stream);
        call.end();
        return;
      case "reset":
        this.#streams.delete(stream);
        http2StreamOf(call).close(constants.NGHTTP2_NO_ERROR);
        return;
      case "twice":
        call.write(event);
    }
    call.write(event);
  }
}

/** The library has no way to end a stream without a status. */
function http2StreamOf(call: EventStream): ServerHttp2Stream {
  return (call as unknown as { call: { stream: ServerHttp2Stream } }).call.stream;
}

function listMethod<Request>(name: string, request: { decode(bytes: Uint8Array): Request }) {
  return {
    path: `/HubService/${name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: () => refuseToSend(),
    requestDeserialize: (bytes: Buffer) => request.decode(bytes),
    responseSerialize: (value: MessagesResponse) => Buffer.from(MessagesResponse.encode(value).finish()),
    responseDeserialize: () => refuseToSend(),
  };
}

function refuseToSend(): never {
  throw new Error("this is the server");
}

/** A stream without requested types gets no events. */
function isWanted({ request }: EventStream, { type }: HubEvent): boolean {
  return request.eventTypes.includes(type);
}

function refusal(code: status, details: string): ServiceError {
  return Object.assign(new Error(details), { code, details, metadata: new Metadata() });
}
