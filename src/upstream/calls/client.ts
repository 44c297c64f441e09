import { status } from "@grpc/grpc-js";
import type { KeyNonces } from "../../ingest/merge/keys/gasless-key-store.ts";
import { BlocksRequest, ShardChunksRequest } from "../../protocol/wire/generated/block.ts";
import { type SignedChunk, SignedChunks } from "../../protocol/wire/generated/certificate.ts";
import {
  EventsRequest,
  GetInfoRequest,
  GetInfoResponse,
  SubscribeRequest,
} from "../../protocol/wire/generated/hub.ts";
import type { OnChainEventType } from "../../protocol/wire/generated/on-chain.ts";
import { CastsByParentRequest, LinksByTargetRequest } from "../../protocol/wire/generated/reads.ts";
import {
  type SnapshotMetadata,
  type SnapshotPage,
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
  EncodedEvents,
  FollowedEvent,
  FollowedEvents,
  FollowedMessages,
  FollowedNames,
  FollowedOnChainEvents,
} from "../../protocol/wire/generated/upstream.ts";
import { ChannelCalls } from "./channel-calls.ts";
import { CallTransport, isCode } from "./connection.ts";
import { CONNECTED_PEERS, type Contact } from "./contacts.ts";
import { FOLLOWED_TYPES } from "./decode/block-assembler.ts";
import { ENCODED, RECEIVED_BLOCK, type ReceivedBlock, SNAPSHOT_PAGE } from "./decode/codecs.ts";
import { MESSAGES_PER_PAGE, type Page, pageOf } from "./pages.ts";
import type { ResponseStream } from "./response-stream.ts";

/** Calls that return all messages of one kind of an fid, adds and removes. */
export type MessagesMethod =
  | "getAllCastMessagesByFid"
  | "getAllReactionMessagesByFid"
  | "getAllLinkMessagesByFid"
  | "getAllVerificationMessagesByFid"
  | "getAllUserDataMessagesByFid"
  | "getAllLendStorageMessagesByFid"
  | "getLinkCompactStateMessageByFid";

interface InfoHeaders {
  readonly onPartial?: () => void;
  readonly onDate?: (unixMs: number) => void;
}

const FIDS_PER_PAGE = 1000;
/** The page size also counts transfers, although the page contains only registrations. */
const HIGHEST_FIDS = 100;
/** The reference node refuses more per call. */
export const MAX_REQUESTERS_PER_CALL = 100;

/** The calls of a HubService that a follower makes. For how they fail and end, see `CallTransport`. */
export class UpstreamClient {
  readonly channels: ChannelCalls;
  readonly #calls: CallTransport;

  constructor(calls: CallTransport) {
    this.#calls = calls;
    this.channels = new ChannelCalls(calls);
  }

  /** Returns a client of the same peer whose calls end when another signal aborts. */
  until(signal: AbortSignal): UpstreamClient {
    return new UpstreamClient(this.#calls.until(signal));
  }

  /**
   * @param onPartial called if the node says that it follows only some fids.
   * @param onDate called with the time of the response in Unix milliseconds, if it has the HTTP header, which proxies add.
   */
  info({ onPartial, onDate }: InfoHeaders = {}): Promise<GetInfoResponse> {
    return this.#calls.unary("getInfo", GetInfoRequest, {}, GetInfoResponse, (metadata) => {
      if (metadata.get("x-partial").length > 0) onPartial?.();
      const date = Date.parse(String(metadata.get("date")[0]));
      if (!Number.isNaN(date)) onDate?.(date);
    });
  }

  /** Returns the nodes of the network that the peer knows by gossip. */
  contacts(): Promise<readonly Contact[]> {
    return this.#calls.unary("getConnectedPeers", GetInfoRequest, {}, CONNECTED_PEERS);
  }

  async fids(shardId: number, pageToken: Uint8Array | undefined): Promise<Page<number>> {
    const request = { shardId, pageSize: FIDS_PER_PAGE, pageToken };
    const { fids, nextPageToken } = await this.#calls.unary("getFids", FidsRequest, request, FidsResponse);
    return pageOf(fids, nextPageToken);
  }

  /** Returns some of the highest fids of a shard. */
  async highestFids(shardId: number): Promise<readonly number[]> {
    const request = { shardId, pageSize: HIGHEST_FIDS, reverse: true };
    return (await this.#calls.unary("getFids", FidsRequest, request, FidsResponse)).fids;
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
        ? await this.#calls.unary(method, FidRequest, page, FollowedMessages)
        : await this.#calls.unary(method, FidTimestampRequest, page, FollowedMessages);
    return pageOf(messages, nextPageToken);
  }

  /** Returns a page of the follows of an fid, newest first, each still encoded. See `readShardPages`. */
  async followsOf(targetFid: number, pageToken: Uint8Array | undefined): Promise<Page<Uint8Array>> {
    const request = { targetFid, linkType: "follow", pageSize: MESSAGES_PER_PAGE, pageToken, reverse: true };
    const response = await this.#calls.unary(
      "getLinksByTarget",
      LinksByTargetRequest,
      request,
      FollowedMessages,
    );
    return pageOf(response.messages, response.nextPageToken);
  }

  /** Returns a page of the casts below a URL, newest first, each still encoded. See `readShardPages`. */
  async castsBelow(parentUrl: string, pageToken: Uint8Array | undefined): Promise<Page<Uint8Array>> {
    const request = { parentUrl, pageSize: MESSAGES_PER_PAGE, pageToken, reverse: true };
    const response = await this.#calls.unary(
      "getCastsByParent",
      CastsByParentRequest,
      request,
      FollowedMessages,
    );
    return pageOf(response.messages, response.nextPageToken);
  }

  /** Returns all events of one type of an fid, each still encoded. */
  async onChainEvents(fid: number, eventType: OnChainEventType): Promise<Uint8Array[]> {
    const request = { fid, eventType };
    const response = await this.#calls.unary(
      "getOnChainEvents",
      OnChainEventRequest,
      request,
      FollowedOnChainEvents,
    );
    return response.events;
  }

  /**
   * Returns live proofs of an fid, each still encoded. A proof may be repeated, and the reference node leaves out fnames: it
   * lists one of several, and none once another of the fid's fnames has moved away. `usernameProof` finds those.
   */
  async usernameProofs(fid: number): Promise<Uint8Array[]> {
    return (await this.#calls.unary("getUserNameProofsByFid", FidRequest, { fid }, FollowedNames)).proofs;
  }

  /** Returns the live proof of a name, still encoded; undefined if it has none. The proof of a released fname has fid 0. */
  async usernameProof(name: Uint8Array): Promise<Uint8Array | undefined> {
    try {
      return await this.#calls.unary("getUsernameProof", UsernameProofRequest, { name }, ENCODED);
    } catch (cause) {
      if (isCode(cause, status.NOT_FOUND)) return undefined;
      throw cause;
    }
  }

  /**
   * Returns a page of the active keys of an fid, on-chain and gasless, and the last nonces of gasless key operations: of the
   * fid's custody address, and of `requesterFids` as apps, across all users.
   *
   * @param requesterFids at most `MAX_REQUESTERS_PER_CALL`.
   */
  async signers(
    fid: number,
    pageToken: Uint8Array | undefined,
    requesterFids: readonly number[],
  ): Promise<Page<Signer> & { readonly nonces: KeyNonces }> {
    const request = { fid, pageToken, requesterFids: [...requesterFids] };
    const response = await this.#calls.unary(
      "getSignersByFid",
      SignersByFidRequest,
      request,
      SignersByFidResponse,
    );
    const { signers, nextPageToken, currentUserNonce, requesterFidNonces } = response;
    const apps = requesterFids.flatMap((requestFid) => {
      const nonce = requesterFidNonces[requestFid] ?? 0;
      return nonce > 0 ? [{ requestFid, nonce }] : [];
    });
    return { ...pageOf(signers, nextPageToken), nonces: { fid, userNonce: currentUserNonce, apps } };
  }

  /**
   * Returns events of a shard in the order of their ids, from `startId` on and below `stopId`, at most `limit`. The
   * response's page token is not used, because after the last page it starts again at the first.
   */
  async events(
    shardIndex: number,
    startId: number,
    stopId: number | undefined,
    limit: number,
  ): Promise<FollowedEvent[]> {
    const request = { shardIndex, startId, stopId, pageSize: limit };
    return (await this.#calls.unary("getEvents", EventsRequest, request, FollowedEvents)).events;
  }

  /** Like `events`, but each still encoded. */
  async encodedEvents(
    shardIndex: number,
    startId: number,
    stopId: number | undefined,
    limit: number,
  ): Promise<Uint8Array[]> {
    const request = { shardIndex, startId, stopId, pageSize: limit };
    return (await this.#calls.unary("getEvents", EventsRequest, request, EncodedEvents)).events;
  }

  /** Returns the fids that the blocks `start` to `stop` (exclusive) of a data shard concern. */
  async chunks(shardId: number, start: number, stop: number): Promise<ConcernedByChunks["chunks"]> {
    const request = { shardId, startBlockNumber: start, stopBlockNumber: stop };
    return (await this.#calls.unary("getShardChunks", ShardChunksRequest, request, ConcernedByChunks)).chunks;
  }

  /** Returns the blocks `start` to `stop` (exclusive) of a data shard with their certificates. */
  async signedChunks(shardId: number, start: number, stop: number): Promise<SignedChunk[]> {
    const request = { shardId, startBlockNumber: start, stopBlockNumber: stop };
    return (await this.#calls.unary("getShardChunks", ShardChunksRequest, request, SignedChunks)).chunks;
  }

  /** Returns the node's snapshots of a data shard, in any order. */
  async snapshots(shard: number): Promise<readonly SnapshotMetadata[]> {
    return (await this.#calls.unary("getShardSnapshotMetadata", SnapshotsRequest, { shard }, Snapshots))
      .snapshots;
  }

  /** Returns a page of a snapshot: records in the order of their keys. */
  snapshotPage(request: SnapshotPageRequest): Promise<SnapshotPage> {
    return this.#calls.unary("getShardTransactions", SnapshotPageRequest, request, SNAPSHOT_PAGE);
  }

  /** Returns the current children of a node of a shard's trie. */
  async trieChildren(shard: number, prefix: Uint8Array): Promise<readonly TrieChild[]> {
    const request = { shard, prefix };
    return (await this.#calls.unary("getTrieMetadataByPrefix", TrieNodeRequest, request, TrieNode)).children;
  }

  /** Streams the existing blocks of shard 0 from `start` on, below `stop`. */
  blocks(start: number, stop?: number): ResponseStream<ReceivedBlock> {
    const request = { startBlockNumber: start, stopBlockNumber: stop };
    return this.#calls.stream("getBlocks", BlocksRequest, request, RECEIVED_BLOCK);
  }

  /** Streams the events of a shard from now on. The call has been sent when this returns. */
  subscribe(shardIndex: number): ResponseStream<FollowedEvent> {
    const request = { shardIndex, eventTypes: [...FOLLOWED_TYPES] };
    return this.#calls.stream("subscribe", SubscribeRequest, request, FollowedEvent);
  }
}

/** @param args those of `CallTransport`. */
export function createUpstreamClient(...args: ConstructorParameters<typeof CallTransport>): UpstreamClient {
  return new UpstreamClient(new CallTransport(...args));
}
