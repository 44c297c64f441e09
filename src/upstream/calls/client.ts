import { type CallOptions, type Client, Metadata, status } from "@grpc/grpc-js";
import type { UnknownRecord } from "../../db/index/unknown-records.ts";
import type { KeyNonces } from "../../ingest/merge/gasless-key-store.ts";
import { BlocksRequest, ShardChunksRequest } from "../../protocol/wire/generated/block.ts";
import { SignedBlock, type SignedChunk, SignedChunks } from "../../protocol/wire/generated/certificate.ts";
import {
  EventsRequest,
  GetInfoRequest,
  GetInfoResponse,
  HubServiceService,
  SubscribeRequest,
} from "../../protocol/wire/generated/hub.ts";
import { OnChainEventType } from "../../protocol/wire/generated/on-chain.ts";
import {
  CastsByParentRequest,
  type ChannelMemberEntry,
  ChannelMembersRequest,
  ChannelMembersResponse,
  ChannelMetadataResponse,
  type ChannelModerationEntry,
  ChannelModerationsRequest,
  ChannelModerationsResponse,
  ChannelOwnerRequest,
  ChannelOwnerResponse,
  type ChannelPinEntry,
  ChannelPinResponse,
  ChannelRequest,
  LinksByTargetRequest,
} from "../../protocol/wire/generated/reads.ts";
import {
  type SnapshotMetadata,
  SnapshotPage,
  SnapshotPageRequest,
  Snapshots,
  SnapshotsRequest,
  type TrieChild,
  TrieNode,
  TrieNodeRequest,
} from "../../protocol/wire/generated/snapshot.ts";
import {
  FidRequest,
  FidsRequest,
  FidsResponse,
  FidTimestampRequest,
  OnChainEventRequest,
  type Signer,
  SignersByFidRequest,
  SignersByFidResponse,
  UsernameProofRequest,
} from "../../protocol/wire/generated/state.ts";
import {
  ConcernedByChunks,
  EncodedBlockEvents,
  EncodedEvents,
  FollowedBlock,
  FollowedEvent,
  FollowedEvents,
  FollowedMessages,
  FollowedNames,
  FollowedOnChainEvents,
} from "../../protocol/wire/generated/upstream.ts";
import type { Timings } from "../timings.ts";
import { FOLLOWED_TYPES } from "./block-assembler.ts";
import { BoundedReader } from "./bounded-reader.ts";
import type { CallRate } from "./call-rate.ts";
import { PeerError, peerErrorOf } from "./peer.ts";
import { ResponseStream } from "./response-stream.ts";
import { unknownBlockEvents } from "./unknown-records.ts";

/** The calls that return all messages of one kind of an fid, adds and removes. */
export type MessagesMethod =
  | "getAllCastMessagesByFid"
  | "getAllReactionMessagesByFid"
  | "getAllLinkMessagesByFid"
  | "getAllVerificationMessagesByFid"
  | "getAllUserDataMessagesByFid"
  | "getAllLendStorageMessagesByFid"
  | "getLinkCompactStateMessageByFid";

/** A page of a list, and the token of the next one; undefined at the end. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextToken: Uint8Array | undefined;
}

const REPLICATION_METHODS = ["getShardSnapshotMetadata", "getShardTransactions"] as const;

/** The service of this program's own server has its reads apart, so that they are not among the generated ones. */
type UnaryMethod =
  | keyof typeof HubServiceService
  | (typeof REPLICATION_METHODS)[number]
  | "getLinksByTarget"
  | "getCastsByParent"
  | "getTrieMetadataByPrefix"
  | "getChannelOwner"
  | "getChannelMetadata"
  | "getChannelPin"
  | "getChannelMembers"
  | "getChannelModerations";

function pathOf(method: UnaryMethod): string {
  if (method in HubServiceService) return HubServiceService[method as keyof typeof HubServiceService].path;
  const service = REPLICATION_METHODS.some((one) => one === method) ? "ReplicationService" : "HubService";
  return `/${service}/${method.charAt(0).toUpperCase()}${method.slice(1)}`;
}

interface InfoHeaders {
  readonly onPartial?: () => void;
  readonly onDate?: (unixMs: number) => void;
}

interface Codec<T> {
  encode(value: T): { finish(): Uint8Array };
  decode(reader: BoundedReader): T;
}

/** A response that stays encoded. */
const ENCODED: Codec<Uint8Array> = {
  encode: (bytes) => ({ finish: () => bytes }),
  decode: ({ encoded }) => encoded.slice(),
};

/** A block of shard 0, and what its certificate binds. */
export interface ReceivedBlock extends FollowedBlock {
  readonly signed: SignedBlock;
  /** Its events of types that this program does not know. */
  readonly unknown: readonly UnknownRecord[];
}

const RECEIVED_BLOCK: Codec<ReceivedBlock> = {
  encode: (block) => FollowedBlock.encode(block),
  decode: (reader) => {
    const { encoded } = reader;
    const block = FollowedBlock.decode(reader);
    const number = block.header?.height?.blockNumber ?? 0;
    const { events } = EncodedBlockEvents.decode(new BoundedReader(encoded));
    const unknown = unknownBlockEvents(events, number);
    return { ...block, signed: SignedBlock.decode(new BoundedReader(encoded)), unknown };
  },
};

/** A page of the reference node has at most 1,000 records. Some of them may be of a kilobyte or more. */
const MAX_SNAPSHOT_PAGE_BYTES = 32 * 1024 * 1024;

const SNAPSHOT_PAGE: Codec<SnapshotPage> = {
  encode: (page) => SnapshotPage.encode(page),
  decode: (reader) => decodeSnapshotPage(reader),
};

/** @throws RangeError for a page that is too large. */
export function decodeSnapshotPage(reader: BoundedReader, maxBytes = MAX_SNAPSHOT_PAGE_BYTES): SnapshotPage {
  if (reader.len > maxBytes) throw new RangeError(`a page of a snapshot has ${reader.len} bytes`);
  return SnapshotPage.decode(reader);
}

/** Messages per response. Several pages of the largest messages fit into the connection's limit. */
const MESSAGES_PER_PAGE = 1000;
const FIDS_PER_PAGE = 1000;
/** A page counts transfers, too, and contains only registrations. */
const HIGHEST_FIDS = 100;
/** The reference node refuses more per call. */
export const MAX_REQUESTERS_PER_CALL = 100;

/**
 * The calls of a HubService that a follower makes. A call that fails or times out throws: a `PeerError` if the
 * failure shows that the peer is not a Farcaster node, which it never does once the peer has responded to that call.
 * Calls are not retried here. All of them end when `signal` aborts.
 */
export class UpstreamClient {
  readonly #connection: Client;
  readonly #timings: Pick<Timings, "callTimeoutMs" | "stallMs">;
  readonly #signal: AbortSignal;
  /** The methods that the peer has responded to. */
  readonly #responded: Set<string>;
  readonly #rate: CallRate | undefined;

  /** @param shared what all clients of one peer share: the methods that it has responded to, and the limit of calls; by default none. */
  constructor(
    connection: Client,
    timings: Pick<Timings, "callTimeoutMs" | "stallMs">,
    signal: AbortSignal,
    { responded = new Set<string>(), rate }: { responded?: Set<string>; rate?: CallRate | undefined } = {},
  ) {
    this.#connection = connection;
    this.#timings = timings;
    this.#signal = signal;
    this.#responded = responded;
    this.#rate = rate;
  }

  /** Returns a client of the same peer whose calls end when another signal aborts. */
  until(signal: AbortSignal): UpstreamClient {
    return new UpstreamClient(this.#connection, this.#timings, signal, {
      responded: this.#responded,
      rate: this.#rate,
    });
  }

  /**
   * @param onPartial called if the node says that it follows only some fids.
   * @param onDate called with the time of the response in unix milliseconds, if the header of HTTP has it: proxies add one.
   */
  info({ onPartial, onDate }: InfoHeaders = {}): Promise<GetInfoResponse> {
    return this.#unary("getInfo", GetInfoRequest, {}, GetInfoResponse, (metadata) => {
      if (metadata.get("x-partial").length > 0) onPartial?.();
      const date = Date.parse(String(metadata.get("date")[0]));
      if (!Number.isNaN(date)) onDate?.(date);
    });
  }

  async fids(shardId: number, pageToken: Uint8Array | undefined): Promise<Page<number>> {
    const request = { shardId, pageSize: FIDS_PER_PAGE, pageToken };
    const { fids, nextPageToken } = await this.#unary("getFids", FidsRequest, request, FidsResponse);
    return pageOf(fids, nextPageToken);
  }

  /** Returns some of the highest fids of a shard. */
  async highestFids(shardId: number): Promise<readonly number[]> {
    const request = { shardId, pageSize: HIGHEST_FIDS, reverse: true };
    return (await this.#unary("getFids", FidsRequest, request, FidsResponse)).fids;
  }

  /** Returns a page of an fid's messages, each still encoded. */
  async messages(
    method: MessagesMethod,
    fid: number,
    pageToken: Uint8Array | undefined,
  ): Promise<Page<Uint8Array>> {
    const page = { fid, pageSize: MESSAGES_PER_PAGE, pageToken };
    const { messages, nextPageToken } =
      method === "getLinkCompactStateMessageByFid"
        ? await this.#unary(method, FidRequest, page, FollowedMessages)
        : await this.#unary(method, FidTimestampRequest, page, FollowedMessages);
    return pageOf(messages, nextPageToken);
  }

  /** Returns a page of the follows of an fid, the newest first, each still encoded. See `readShardPages`. */
  async followsOf(targetFid: number, pageToken: Uint8Array | undefined): Promise<Page<Uint8Array>> {
    const request = { targetFid, linkType: "follow", pageSize: MESSAGES_PER_PAGE, pageToken, reverse: true };
    const response = await this.#unary("getLinksByTarget", LinksByTargetRequest, request, FollowedMessages);
    return pageOf(response.messages, response.nextPageToken);
  }

  /** Returns a page of the casts below a URL, the newest first, each still encoded. See `readShardPages`. */
  async castsBelow(parentUrl: string, pageToken: Uint8Array | undefined): Promise<Page<Uint8Array>> {
    const request = { parentUrl, pageSize: MESSAGES_PER_PAGE, pageToken, reverse: true };
    const response = await this.#unary("getCastsByParent", CastsByParentRequest, request, FollowedMessages);
    return pageOf(response.messages, response.nextPageToken);
  }

  /** Returns all events of one type of an fid, each still encoded. */
  async onChainEvents(fid: number, eventType: OnChainEventType): Promise<Uint8Array[]> {
    const request = { fid, eventType };
    const response = await this.#unary(
      "getOnChainEvents",
      OnChainEventRequest,
      request,
      FollowedOnChainEvents,
    );
    return response.events;
  }

  /** Returns all registrations of channels, each still encoded. A node that does not know of channels has none. */
  async channelRegistrations(): Promise<Uint8Array[]> {
    try {
      return await this.onChainEvents(0, OnChainEventType.EVENT_TYPE_CHANNEL_REGISTER);
    } catch (cause) {
      if (cause instanceof PeerError || isCode(cause, status.INVALID_ARGUMENT)) return [];
      throw cause;
    }
  }

  /** Returns who owns the channel with a name; undefined for a name that was never registered. */
  async channelOwner(channelKey: string): Promise<ChannelOwnerResponse | undefined> {
    try {
      return await this.#unary("getChannelOwner", ChannelOwnerRequest, { channelKey }, ChannelOwnerResponse);
    } catch (cause) {
      if (isCode(cause, status.NOT_FOUND)) return undefined;
      throw cause;
    }
  }

  channelMetadata(channelId: Uint8Array): Promise<ChannelMetadataResponse> {
    return this.#unary("getChannelMetadata", ChannelRequest, { channelId }, ChannelMetadataResponse);
  }

  async channelPin(channelId: Uint8Array): Promise<ChannelPinEntry | undefined> {
    return (await this.#unary("getChannelPin", ChannelRequest, { channelId }, ChannelPinResponse)).pin;
  }

  /** Returns a page of the slots of members, in every state. */
  async channelMembers(
    channelId: Uint8Array,
    pageToken: Uint8Array | undefined,
  ): Promise<Page<ChannelMemberEntry>> {
    const request = ChannelMembersRequest.fromPartial({ channelId, pageSize: MESSAGES_PER_PAGE, pageToken });
    const { members, nextPageToken } = await this.#unary(
      "getChannelMembers",
      ChannelMembersRequest,
      request,
      ChannelMembersResponse,
    );
    return pageOf(members, nextPageToken);
  }

  /** Returns a page of the casts that are or were hidden in a channel. */
  async channelModerations(
    channelId: Uint8Array,
    pageToken: Uint8Array | undefined,
  ): Promise<Page<ChannelModerationEntry>> {
    const request = ChannelModerationsRequest.fromPartial({
      channelId,
      pageSize: MESSAGES_PER_PAGE,
      pageToken,
    });
    const { moderations, nextPageToken } = await this.#unary(
      "getChannelModerations",
      ChannelModerationsRequest,
      request,
      ChannelModerationsResponse,
    );
    return pageOf(moderations, nextPageToken);
  }

  /**
   * Returns live proofs of an fid, each still encoded. A proof may be repeated, and the reference node leaves fnames out: of
   * several it lists one, and none once another of the fid has moved away. `usernameProof` finds those.
   */
  async usernameProofs(fid: number): Promise<Uint8Array[]> {
    return (await this.#unary("getUserNameProofsByFid", FidRequest, { fid }, FollowedNames)).proofs;
  }

  /** Returns the live proof of a name, still encoded; undefined if it has none. The proof of a released fname has fid 0. */
  async usernameProof(name: Uint8Array): Promise<Uint8Array | undefined> {
    try {
      return await this.#unary("getUsernameProof", UsernameProofRequest, { name }, ENCODED);
    } catch (cause) {
      if (isCode(cause, status.NOT_FOUND)) return undefined;
      throw cause;
    }
  }

  /**
   * Returns a page of the active keys of an fid, on-chain and gasless, and the last nonces of gasless key operations:
   * of the fid's custody address, and of `requesterFids` as apps, over all users.
   *
   * @param requesterFids at most `MAX_REQUESTERS_PER_CALL`.
   */
  async signers(
    fid: number,
    pageToken: Uint8Array | undefined,
    requesterFids: readonly number[],
  ): Promise<Page<Signer> & { readonly nonces: KeyNonces }> {
    const request = { fid, pageToken, requesterFids: [...requesterFids] };
    const response = await this.#unary("getSignersByFid", SignersByFidRequest, request, SignersByFidResponse);
    const { signers, nextPageToken, currentUserNonce, requesterFidNonces } = response;
    const apps = requesterFids.flatMap((requestFid) => {
      const nonce = requesterFidNonces[requestFid] ?? 0;
      return nonce > 0 ? [{ requestFid, nonce }] : [];
    });
    return { ...pageOf(signers, nextPageToken), nonces: { fid, userNonce: currentUserNonce, apps } };
  }

  /**
   * Returns events of a shard in the order of their ids, from `startId` on and below `stopId`, at most `limit`. The
   * response's page token is not used: after the last page it starts again at the first.
   */
  async events(
    shardIndex: number,
    startId: number,
    stopId: number | undefined,
    limit: number,
  ): Promise<FollowedEvent[]> {
    const request = { shardIndex, startId, stopId, pageSize: limit };
    return (await this.#unary("getEvents", EventsRequest, request, FollowedEvents)).events;
  }

  /** As `events`, each still encoded. */
  async encodedEvents(
    shardIndex: number,
    startId: number,
    stopId: number | undefined,
    limit: number,
  ): Promise<Uint8Array[]> {
    const request = { shardIndex, startId, stopId, pageSize: limit };
    return (await this.#unary("getEvents", EventsRequest, request, EncodedEvents)).events;
  }

  /** Returns the fids that the blocks `start` to `stop`, exclusive, of a data shard concern. */
  async chunks(shardId: number, start: number, stop: number): Promise<ConcernedByChunks["chunks"]> {
    const request = { shardId, startBlockNumber: start, stopBlockNumber: stop };
    return (await this.#unary("getShardChunks", ShardChunksRequest, request, ConcernedByChunks)).chunks;
  }

  /** Returns the blocks `start` to `stop`, exclusive, of a data shard with their certificates. */
  async signedChunks(shardId: number, start: number, stop: number): Promise<SignedChunk[]> {
    const request = { shardId, startBlockNumber: start, stopBlockNumber: stop };
    return (await this.#unary("getShardChunks", ShardChunksRequest, request, SignedChunks)).chunks;
  }

  /** Returns the snapshots that the node has of a data shard, in any order. */
  async snapshots(shard: number): Promise<readonly SnapshotMetadata[]> {
    return (await this.#unary("getShardSnapshotMetadata", SnapshotsRequest, { shard }, Snapshots)).snapshots;
  }

  /** Returns a page of a snapshot: records in the order of their keys. */
  snapshotPage(request: SnapshotPageRequest): Promise<SnapshotPage> {
    return this.#unary("getShardTransactions", SnapshotPageRequest, request, SNAPSHOT_PAGE);
  }

  /** Returns the children of a node of a shard's trie, as it is now. */
  async trieChildren(shard: number, prefix: Uint8Array): Promise<readonly TrieChild[]> {
    const request = { shard, prefix };
    return (await this.#unary("getTrieMetadataByPrefix", TrieNodeRequest, request, TrieNode)).children;
  }

  /** Streams the blocks of shard 0 from `start` on, below `stop`, that exist so far. */
  blocks(start: number, stop?: number): ResponseStream<ReceivedBlock> {
    const request = { startBlockNumber: start, stopBlockNumber: stop };
    return this.#stream("getBlocks", BlocksRequest, request, RECEIVED_BLOCK);
  }

  /** Streams the events of a shard from now on. The call has been sent when this returns. */
  subscribe(shardIndex: number): ResponseStream<FollowedEvent> {
    const request = { shardIndex, eventTypes: [...FOLLOWED_TYPES] };
    return this.#stream("subscribe", SubscribeRequest, request, FollowedEvent);
  }

  async #unary<Request, Response>(
    method: UnaryMethod,
    { encode }: Codec<Request>,
    request: Request,
    { decode }: Codec<Response>,
    onMetadata?: (metadata: Metadata) => void,
  ): Promise<Response> {
    const signal = this.#signal;
    await this.#rate?.take(signal);
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const options: CallOptions = { deadline: Date.now() + this.#timings.callTimeoutMs };
      const call = this.#connection.makeUnaryRequest<Request, Response>(
        pathOf(method),
        (value) => asBuffer(encode(value).finish()),
        (bytes) => decode(new BoundedReader(bytes)),
        request,
        new Metadata(),
        options,
        (fault, response) => {
          signal.removeEventListener("abort", cancel);
          if (fault) return reject(this.#errorOf(method, fault));
          if (response === undefined) return reject(new Error(`the response of ${method} is empty`));
          this.#responded.add(method);
          resolve(response);
        },
      );
      if (onMetadata) call.on("metadata", onMetadata);
      const cancel = () => call.cancel();
      signal.addEventListener("abort", cancel);
    });
  }

  #stream<Request, Response>(
    method: keyof typeof HubServiceService,
    { encode }: Codec<Request>,
    request: Request,
    { decode }: Codec<Response>,
  ): ResponseStream<Response> {
    // A stream is opened at once, and counts for the calls after it.
    this.#rate?.delayMs();
    const call = this.#connection.makeServerStreamRequest<Request, Response>(
      HubServiceService[method].path,
      (value) => asBuffer(encode(value).finish()),
      (bytes) => decode(new BoundedReader(bytes)),
      request,
      new Metadata(),
      {},
    );
    return new ResponseStream(call, {
      method,
      stallMs: this.#timings.stallMs,
      signal: this.#signal,
      onResponse: () => this.#responded.add(method),
      errorOf: (cause) => this.#errorOf(method, cause),
    });
  }

  #errorOf(method: string, cause: unknown): unknown {
    this.#rate?.failed(cause);
    return peerErrorOf(method, cause, this.#responded) ?? cause;
  }
}

function isCode(cause: unknown, code: status): boolean {
  return cause instanceof Error && "code" in cause && cause.code === code;
}

function pageOf<Item>(items: readonly Item[], token: Uint8Array | undefined): Page<Item> {
  return { items, nextToken: token && token.length > 0 ? token : undefined };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
