import type {
  EventRequest,
  EventsRequest,
  EventsResponse,
  GetInfoResponse,
  HubEvent,
} from "../../../src/protocol/wire/generated/hub.ts";
import {
  type MessageData,
  MessageType,
  type UserNameProof,
} from "../../../src/protocol/wire/generated/message.ts";
import {
  IdRegisterEventType,
  type OnChainEvent,
  OnChainEventType,
  SignerEventType,
} from "../../../src/protocol/wire/generated/on-chain.ts";
import type {
  CastsByParentRequest,
  LinksByTargetRequest,
} from "../../../src/protocol/wire/generated/reads.ts";
import {
  type FidsRequest,
  type FidsResponse,
  type FidTimestampRequest,
  type MessagesResponse,
  type OnChainEventRequest,
  type Signer,
  SignerSource,
  type SignersByFidRequest,
  SignersByFidResponse,
} from "../../../src/protocol/wire/generated/state.ts";
import { eventId } from "./blocks.ts";
import { dataOf } from "./hub-events.ts";
import type { UpstreamNode } from "./node.ts";
import type { LiveMessage } from "./shard-state.ts";
import { DATA_SHARDS, shardOf } from "./shards.ts";

/** The node's responses, with the quirks of section 1.4 of the protocol facts. */

const DEFAULT_EVENTS_PER_PAGE = 1000;
const DEFAULT_FIDS_PER_PAGE = 1000;
const DEFAULT_MESSAGES_PER_PAGE = 10_000;

export function infoOf(node: UpstreamNode): GetInfoResponse {
  const nothing = { approxSize: 0, blockDelay: node.blockDelay, mempoolSize: 0, numOnchainEvents: 0 };
  const shardInfos = [0, ...DATA_SHARDS].map((shardId) => ({
    ...nothing,
    shardId,
    maxHeight: node.height(shardId),
    numMessages: shardId === 0 ? 0 : node.state(shardId).numMessages,
    numFidRegistrations: shardId === 0 ? 0 : registeredFids(node, shardId).size,
  }));
  const sum = (field: "numMessages" | "numFidRegistrations") =>
    shardInfos.reduce((total, info) => total + info[field], 0);
  return {
    version: "0.14.2",
    dbStats: {
      numMessages: sum("numMessages"),
      numFidRegistrations: sum("numFidRegistrations"),
      approxSize: 0,
    },
    peerId: "",
    numShards: DATA_SHARDS.length,
    shardInfos,
    nextEngineVersionTimestamp: 0,
  };
}

function registeredFids(node: UpstreamNode, shard: number): Set<number> {
  const ids = node.state(shard).onChainEvents().filter(isIdRegistry);
  return new Set(ids.map(({ fid }) => fid));
}

/** A page counts registry events but contains only registrations: it may be short, and an fid may be repeated. */
export function fidsOf(node: UpstreamNode, request: FidsRequest): FidsResponse {
  const events = node.state(request.shardId).onChainEvents().filter(isIdRegistry);
  if (request.reverse) events.sort((a, b) => b.fid - a.fid);
  const from = request.pageToken?.length ? Number(Buffer.from(request.pageToken).toString()) : 0;
  const end = from + Math.min(request.pageSize ?? DEFAULT_FIDS_PER_PAGE, node.mostPerPage);
  return {
    fids: events
      .slice(from, end)
      .filter(isRegistration)
      .map(({ fid }) => fid),
    nextPageToken: end < events.length ? Buffer.from(String(end)) : undefined,
  };
}

function isIdRegistry({ type }: OnChainEvent): boolean {
  return type === OnChainEventType.EVENT_TYPE_ID_REGISTER;
}

function isRegistration({ body }: OnChainEvent): boolean {
  return (
    body?.$case === "idRegisterEventBody" &&
    body.value.eventType === IdRegisterEventType.ID_REGISTER_EVENT_TYPE_REGISTER
  );
}

/** The union over shard 0 and the fid's shard, which both store each event. Paging is ignored. */
export function onChainEventsOf(node: UpstreamNode, { fid, eventType }: OnChainEventRequest): OnChainEvent[] {
  return [0, shardOf(fid)].flatMap((shard) =>
    node
      .state(shard)
      .onChainEvents()
      .filter((event) => event.fid === fid && event.type === eventType),
  );
}

/** Live messages of an fid by type; lends are of shard 0. Times are inclusive. */
export function messagesOf(
  node: UpstreamNode,
  types: readonly MessageType[],
  request: Partial<FidTimestampRequest> & { fid: number },
): MessagesResponse {
  const shard = types.includes(MessageType.MESSAGE_TYPE_LEND_STORAGE) ? 0 : shardOf(request.fid);
  const { startTimestamp = 0, stopTimestamp = Number.POSITIVE_INFINITY, pageToken } = request;
  const after = pageToken?.length ? Buffer.from(pageToken).toString() : "";
  const left = node
    .state(shard)
    .messagesOf(request.fid)
    .filter(({ type }) => types.includes(type))
    .filter(({ timestamp }) => timestamp >= startTimestamp && timestamp <= stopTimestamp)
    .filter(({ order }) => order > after);
  const page = left.slice(0, Math.min(request.pageSize ?? DEFAULT_MESSAGES_PER_PAGE, node.mostPerPage));
  const last = page.at(-1);
  return {
    messages: page.map(({ message }) => message),
    nextPageToken: last && page.length < left.length ? Buffer.from(last.order) : undefined,
  };
}

/** The follows of an fid. Without `reverse` the oldest first. */
export function followsOf(node: UpstreamNode, request: LinksByTargetRequest): MessagesResponse {
  return listOverShards(node, request, ({ body }) => {
    const link = body?.$case === "linkBody" ? body.value : undefined;
    return link?.type === request.linkType && link?.target?.value === request.targetFid;
  });
}

export function castsBelow(node: UpstreamNode, request: CastsByParentRequest): MessagesResponse {
  return listOverShards(node, request, ({ body }) => {
    const parent = body?.$case === "castAddBody" ? body.value.parent : undefined;
    return parent?.$case === "parentUrl" && parent.value === request.parentUrl;
  });
}

/**
 * A page of each shard, and always a token: a JSON array with the token of each shard. A shard that has ended has null, and starts
 * again when that is sent back.
 */
function listOverShards(
  node: UpstreamNode,
  request: Pick<LinksByTargetRequest, "pageSize" | "pageToken" | "reverse">,
  isWanted: (data: MessageData) => boolean,
): MessagesResponse {
  const { pageSize = DEFAULT_MESSAGES_PER_PAGE, pageToken, reverse = false } = request;
  const tokens: (number[] | null)[] = pageToken?.length ? JSON.parse(Buffer.from(pageToken).toString()) : [];
  const adds = [MessageType.MESSAGE_TYPE_LINK_ADD, MessageType.MESSAGE_TYPE_CAST_ADD];
  const pages = node.states.map((state, at) => {
    const fids = new Set(state.onChainEvents().map(({ fid }) => fid));
    const all = [...fids]
      .flatMap((fid) => state.messagesOf(fid))
      .filter(({ type, message }) => adds.includes(type) && isWanted(dataOf(message)))
      .sort((a, b) => (a.order < b.order !== reverse ? -1 : 1));
    const from = Number(Buffer.from(tokens[at] ?? []).toString() || "0");
    const end = from + Math.min(pageSize, node.mostPerPage);
    return { messages: all.slice(from, end), next: end < all.length ? [...Buffer.from(String(end))] : null };
  });
  return {
    messages: pages.flatMap(({ messages }) => messages.map(({ message }) => message)),
    nextPageToken: Buffer.from(JSON.stringify(pages.map(({ next }) => next))),
  };
}

/** The union over shards: an fname is returned once for each shard, since all of them store it. */
export function nameProofsOf(node: UpstreamNode, fid: number): UserNameProof[] {
  const claimed = node
    .state(shardOf(fid))
    .messagesOf(fid)
    .filter(({ type }) => type === MessageType.MESSAGE_TYPE_USERNAME_PROOF)
    .map(proofIn);
  return [...node.states.flatMap((state) => state.fnamesOf(fid)), ...claimed];
}

/** The live proof of a name; a released fname has the fid 0. */
export function nameProof(node: UpstreamNode, name: string): UserNameProof | undefined {
  for (const state of node.states) {
    const fname = state.fname(name);
    if (fname) return fname;
  }
  for (const { fid } of node.states.flatMap((state) => state.onChainEvents().filter(isIdRegistry))) {
    const proof = nameProofsOf(node, fid).find((one) => Buffer.from(one.name).toString() === name);
    if (proof) return proof;
  }
  return undefined;
}

function proofIn({ message }: LiveMessage): UserNameProof {
  const body = dataOf(message).body;
  if (body?.$case !== "usernameProofBody") throw new Error("a name proof without its body");
  return body.value;
}

/** Active keys of both sources. A key that was reset is active if it was added before. */
export function signersOf(node: UpstreamNode, request: SignersByFidRequest): SignersByFidResponse {
  const { fid } = request;
  const state = node.state(shardOf(fid));
  const latest = new Map<string, { add?: OnChainEvent; isRemoved: boolean }>();
  for (const event of state.onChainEvents()) {
    if (event.fid !== fid || event.body?.$case !== "signerEventBody") continue;
    const { key, eventType } = event.body.value;
    const isAdd = eventType === SignerEventType.SIGNER_EVENT_TYPE_ADD;
    const add = isAdd ? event : latest.get(key.toHex())?.add;
    const isRemoved = eventType === SignerEventType.SIGNER_EVENT_TYPE_REMOVE;
    latest.set(key.toHex(), { ...(add && { add }), isRemoved });
  }
  const onChain = [...latest.values()].flatMap(({ add, isRemoved }) =>
    add && !isRemoved ? [signerOf(add)] : [],
  );
  const gasless = state.gaslessKeysOf(fid);
  return SignersByFidResponse.fromPartial({
    signers: [
      ...onChain,
      ...(gasless?.keys ?? []).map((row) => ({
        source: SignerSource.SIGNER_SOURCE_OFFCHAIN,
        key: row.key,
        keyType: 1,
        fid,
        addedAt: row.addedAt,
        lastUsedAt: row.lastUsedAt,
        ttl: row.ttlSecs,
        expiresAt: row.lastUsedAt + row.ttlSecs,
        scopes: row.scopes,
        requestFid: row.requestFid,
        nonce: row.nonce,
      })),
    ],
    gaslessSignerCount: gasless?.keys.length ?? 0,
    gaslessSignerLimit: 1000,
    currentUserNonce: gasless?.userNonce ?? 0,
    requesterFidNonces: Object.fromEntries(
      request.requesterFids.map((requester) => [requester, state.appNonce(requester)]),
    ),
  });
}

function signerOf(event: OnChainEvent): Partial<Signer> {
  const body = event.body?.$case === "signerEventBody" ? event.body.value : undefined;
  return {
    source: SignerSource.SIGNER_SOURCE_ONCHAIN,
    key: body?.key ?? new Uint8Array(),
    keyType: body?.keyType ?? 0,
    fid: event.fid,
    addedAt: event.blockTimestamp,
    scopes: [],
    onchainEvent: event,
  };
}

/** The logged events of a shard: without key events, and below the retention only stray events. */
export function storedEvents(node: UpstreamNode, shard: number, from: number, below: number): HubEvent[] {
  const kept = node.blocks(shard, "events").flatMap(({ events }) => events.filter(({ id }) => id > 0));
  return [...strayEvents(node, shard), ...kept].filter(({ id }) => id >= from && id < below).map(delivered);
}

/** A node that was set up by replication has old events with ids of height 0. */
function strayEvents(node: UpstreamNode, shard: number): HubEvent[] {
  const first = node.chain.ticks[0]?.data.find((block) => block.shard === shard)?.events.slice(1) ?? [];
  return first.map((event, at) => ({ ...event, id: eventId(0, at + 1), blockNumber: 0 }));
}

/** A compact state is delivered without the deleted messages, which may be too large for one event. */
export function delivered(event: HubEvent): HubEvent {
  if (event.body?.$case !== "mergeMessageBody" || !event.body.value.message) return event;
  const { type } = dataOf(event.body.value.message);
  if (type !== MessageType.MESSAGE_TYPE_LINK_COMPACT_STATE) return event;
  return {
    ...event,
    body: { $case: "mergeMessageBody", value: { ...event.body.value, deletedMessages: [] } },
  };
}

/** There is always a token, with one entry for each shard. The last one is null; sent back, it starts again. */
export function eventsOf(node: UpstreamNode, request: EventsRequest): EventsResponse {
  const { startId, stopId = Number.MAX_SAFE_INTEGER, pageSize = DEFAULT_EVENTS_PER_PAGE } = request;
  const shards = request.shardIndex === undefined ? DATA_SHARDS : [request.shardIndex];
  const tokens: (number[] | null)[] = request.pageToken?.length
    ? JSON.parse(Buffer.from(request.pageToken).toString())
    : [];
  const pages = shards.map((shard, at) => {
    const token = tokens[at];
    const from = token ? Number(Buffer.from(token).toString()) : startId;
    const left = storedEvents(node, shard, from, stopId);
    const events = left.slice(0, Math.min(pageSize, node.mostPerPage));
    const next = left[events.length]?.id;
    return { events, next: next === undefined ? null : [...Buffer.from(String(next))] };
  });
  return {
    events: pages.flatMap(({ events }) => events),
    nextPageToken: Buffer.from(JSON.stringify(pages.map(({ next }) => next))),
  };
}

export function eventOf(node: UpstreamNode, { id, shardIndex }: EventRequest): HubEvent | undefined {
  return storedEvents(node, shardIndex, id, id + 1)[0];
}
