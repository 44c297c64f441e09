import { type CallOptions, type Client, type ClientReadableStream, Metadata } from "@grpc/grpc-js";
import type { RelayedNonces } from "../ingest/relay-keys.ts";
import { BlocksRequest, ShardChunksRequest } from "../protocol/wire/generated/block.ts";
import {
  EventsRequest,
  GetInfoRequest,
  GetInfoResponse,
  HubServiceService,
  SubscribeRequest,
} from "../protocol/wire/generated/hub.ts";
import type { OnChainEventType } from "../protocol/wire/generated/on-chain.ts";
import {
  FidRequest,
  FidsRequest,
  FidsResponse,
  FidTimestampRequest,
  OnChainEventRequest,
  type Signer,
  SignersByFidRequest,
  SignersByFidResponse,
} from "../protocol/wire/generated/state.ts";
import {
  ConcernedByChunks,
  FollowedBlock,
  FollowedEvent,
  FollowedEvents,
  FollowedMessages,
  FollowedNames,
  FollowedOnChainEvents,
} from "../protocol/wire/generated/upstream.ts";
import { FOLLOWED_TYPES } from "./block-assembler.ts";
import { peerErrorOf } from "./peer.ts";
import type { Timings } from "./timings.ts";

/** The calls that give every message of one kind of an fid, adds and removes alike. */
export type MessagesMethod =
  | "getAllCastMessagesByFid"
  | "getAllReactionMessagesByFid"
  | "getAllLinkMessagesByFid"
  | "getAllVerificationMessagesByFid"
  | "getAllUserDataMessagesByFid"
  | "getAllLendStorageMessagesByFid"
  | "getLinkCompactStateMessageByFid";

/** A page of some list, and the token of the next one; undefined at the end. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextToken: Uint8Array | undefined;
}

interface Codec<T> {
  encode(value: T): { finish(): Uint8Array };
  decode(bytes: Uint8Array): T;
}

/** Messages of one answer: several of the largest fit into what the connection takes. */
const MESSAGES_PER_PAGE = 1000;
const FIDS_PER_PAGE = 1000;
/** The reference node refuses to tell of more in one call. */
export const MAX_REQUESTERS_PER_CALL = 100;

/**
 * The calls of a HubService that a follower makes. A call that fails, or is not answered in time, throws, a `PeerError` where
 * that shows that the peer is no Farcaster node; none is tried again here. All of them end when `signal` aborts.
 */
export class UpstreamClient {
  constructor(
    private readonly connection: Client,
    private readonly pace: Pick<Timings, "callTimeoutMs" | "stallMs">,
    private readonly signal: AbortSignal,
  ) {}

  info(): Promise<GetInfoResponse> {
    return this.#unary("getInfo", GetInfoRequest, {}, GetInfoResponse);
  }

  async fids(shardId: number, pageToken: Uint8Array | undefined): Promise<Page<number>> {
    const request = { shardId, pageSize: FIDS_PER_PAGE, pageToken };
    const { fids, nextPageToken } = await this.#unary("getFids", FidsRequest, request, FidsResponse);
    return pageOf(fids, nextPageToken);
  }

  /** A page of an fid's messages, each still encoded. */
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

  /** All events of one type of an fid, each still encoded. */
  async onChainEvents(fid: number, eventType: OnChainEventType): Promise<Uint8Array[]> {
    const request = { fid, eventType };
    const answer = await this.#unary("getOnChainEvents", OnChainEventRequest, request, FollowedOnChainEvents);
    return answer.events;
  }

  /** The live proofs of an fid, each still encoded; one and the same may come several times. */
  async usernameProofs(fid: number): Promise<Uint8Array[]> {
    return (await this.#unary("getUserNameProofsByFid", FidRequest, { fid }, FollowedNames)).proofs;
  }

  /**
   * A page of the active keys of an fid, on-chain and gasless, and the last nonces of gasless key operations: of the fid's
   * custody, and of `requesterFids` as apps, over all users.
   *
   * @param requesterFids at most `MAX_REQUESTERS_PER_CALL`.
   */
  async signers(
    fid: number,
    pageToken: Uint8Array | undefined,
    requesterFids: readonly number[],
  ): Promise<Page<Signer> & { readonly nonces: RelayedNonces }> {
    const request = { fid, pageToken, requesterFids: [...requesterFids] };
    const answer = await this.#unary("getSignersByFid", SignersByFidRequest, request, SignersByFidResponse);
    const { signers, nextPageToken, currentUserNonce, requesterFidNonces } = answer;
    const apps = requesterFids.flatMap((requestFid) => {
      const nonce = requesterFidNonces[requestFid] ?? 0;
      return nonce > 0 ? [{ requestFid, nonce }] : [];
    });
    return { ...pageOf(signers, nextPageToken), nonces: { fid, userNonce: currentUserNonce, apps } };
  }

  /**
   * Events of a shard in the order of their ids, from `startId` on and below `stopId`, at most `limit`. An answer's page
   * token is of no use: it begins anew behind the last page.
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

  /** Whom the blocks `start` to `stop`, exclusive, of a data shard concern. */
  async chunks(shardId: number, start: number, stop: number): Promise<ConcernedByChunks["chunks"]> {
    const request = { shardId, startBlockNumber: start, stopBlockNumber: stop };
    return (await this.#unary("getShardChunks", ShardChunksRequest, request, ConcernedByChunks)).chunks;
  }

  /** The blocks of shard 0 from `start` on that there are by now. */
  blocks(start: number): ResponseStream<FollowedBlock> {
    return this.#stream("getBlocks", BlocksRequest, { startBlockNumber: start }, FollowedBlock);
  }

  /** The events of a shard from now on. The call is under way when this returns, before anything is read from it. */
  subscribe(shardIndex: number): ResponseStream<FollowedEvent> {
    const request = { shardIndex, eventTypes: [...FOLLOWED_TYPES] };
    return this.#stream("subscribe", SubscribeRequest, request, FollowedEvent);
  }

  #unary<Request, Answer>(
    method: keyof typeof HubServiceService,
    { encode }: Codec<Request>,
    request: Request,
    { decode }: Codec<Answer>,
  ): Promise<Answer> {
    const { signal, connection, pace } = this;
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const options: CallOptions = { deadline: Date.now() + pace.callTimeoutMs };
      const call = connection.makeUnaryRequest<Request, Answer>(
        HubServiceService[method].path,
        (value) => asBuffer(encode(value).finish()),
        decode,
        request,
        new Metadata(),
        options,
        (fault, answer) => {
          signal.removeEventListener("abort", cancel);
          if (fault) reject(peerErrorOf(method, fault) ?? fault);
          else if (answer === undefined) reject(new Error(`${method} was answered with nothing`));
          else resolve(answer);
        },
      );
      const cancel = () => call.cancel();
      signal.addEventListener("abort", cancel);
    });
  }

  #stream<Request, Answer>(
    method: keyof typeof HubServiceService,
    { encode }: Codec<Request>,
    request: Request,
    { decode }: Codec<Answer>,
  ): ResponseStream<Answer> {
    const call = this.connection.makeServerStreamRequest<Request, Answer>(
      HubServiceService[method].path,
      (value) => asBuffer(encode(value).finish()),
      decode,
      request,
      new Metadata(),
      {},
    );
    return new ResponseStream(call, method, this.pace.stallMs, this.signal);
  }
}

function pageOf<Item>(items: readonly Item[], token: Uint8Array | undefined): Page<Item> {
  return { items, nextToken: token && token.length > 0 ? token : undefined };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * A stream of answers that is read as fast as its reader takes it, and no faster. It ends when it is let go of, when
 * `signal` aborts and, with a fault, when nothing comes for `stallMs` while the reader waits.
 */
export class ResponseStream<Answer> implements AsyncIterableIterator<Answer>, Disposable {
  readonly #call: ClientReadableStream<Answer>;
  readonly #method: string;
  readonly #answers: AsyncIterator<Answer>;
  readonly #watchdog: NodeJS.Timeout;
  readonly #signal: AbortSignal;
  #isWaiting = false;

  constructor(call: ClientReadableStream<Answer>, method: string, stallMs: number, signal: AbortSignal) {
    this.#call = call;
    this.#method = method;
    this.#signal = signal;
    // A fault between two reads must not be an uncaught one; the next read throws it.
    call.on("error", () => {});
    this.#answers = call[Symbol.asyncIterator]();
    this.#watchdog = setTimeout(() => {
      if (this.#isWaiting) call.destroy(new Error(`${method} said nothing for ${stallMs} ms`));
      else this.#watchdog.refresh();
    }, stallMs);
    signal.addEventListener("abort", this.#abort);
    if (signal.aborted) this.#abort();
  }

  async next(): Promise<IteratorResult<Answer>> {
    this.#watchdog.refresh();
    this.#isWaiting = true;
    try {
      return await this.#answers.next();
    } catch (cause) {
      throw peerErrorOf(this.#method, cause) ?? cause;
    } finally {
      this.#isWaiting = false;
    }
  }

  async return(): Promise<IteratorResult<Answer>> {
    this[Symbol.dispose]();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#watchdog);
    this.#signal.removeEventListener("abort", this.#abort);
    this.#call.cancel();
    this.#call.destroy();
  }

  readonly #abort = () => {
    this.#call.destroy(new Error("stopped"));
  };
}
