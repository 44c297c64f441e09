import type { HubLogBlock } from "../../db/index/log/hub-log.ts";
import type { UnknownRecord } from "../../db/index/unknown-records.ts";
import type { MessageRef, RelayedBlocks, RelayedOp } from "../../ingest/relayed-op.ts";
import { packBytes } from "../../lib/bytes.ts";
import { isChannelMessage } from "../../protocol/channels/slots.ts";
import { Store, slotOf } from "../../protocol/message/merge-rules.ts";
import {
  type DecodeMessage,
  decodingOnce,
  encodeMessage,
  mentionedFids,
  type SignedMessage,
} from "../../protocol/message/signed-message.ts";
import { shardOfFid } from "../../protocol/network/shard.ts";
import { toUnixSecs } from "../../protocol/time.ts";
import { MessageType, UserNameProof } from "../../protocol/wire/generated/message.ts";
import { type OnChainEvent, OnChainEventType } from "../../protocol/wire/generated/on-chain.ts";
import type { FollowedEvent, FollowedMerge, FollowedProofs } from "../../protocol/wire/generated/upstream.ts";
import type { ShardBlock } from "../calls/decode/block-assembler.ts";
import { type RecordPlace, unknownMessage, unknownOnChainEvent } from "../calls/decode/unknown-records.ts";
import { BLOCK_SHARD } from "../positions.ts";
import { keyRecordsOfEvents } from "./key-records.ts";
import { LoggedEvents } from "./logged-events.ts";
import { usernameOf } from "./name-proofs.ts";
import { keyOp, type LinksByAuthor, linksByAuthor, mergeOp, proofOp } from "./record-operations.ts";
import { type RelayRules, validatedEvent, validateRelayed } from "./validate-relayed.ts";

/** A username in the user data of an fid. */
export interface ShownUsername {
  readonly fid: number;
  readonly name: string;
}

/** Operations of blocks, the fids that they mention, and the events to log. */
export interface Relayed {
  readonly ops: RelayedOp[];
  readonly mentioned: number[];
  /** Usernames that users show from now on (see `readShownProofs`). */
  readonly usernames: ShownUsername[];
  readonly hubBlocks: HubLogBlock[];
  readonly blocks: RelayedBlocks | undefined;
  /** Records of kinds that this program does not know. */
  readonly unknown: readonly UnknownRecord[];
}

/**
 * Messages of these stores are not stored, because the upstream lists the proofs and keys of an fid but not their messages.
 */
const NOT_STORED_AS_MESSAGES: ReadonlySet<Store> = new Set([Store.UsernameProofs, Store.GaslessKeys]);

/** Source of the blocks of a data shard. */
export interface BlockSource {
  readonly shard: number;
  readonly isJournal: boolean;
  /**
   * Returns what the verified chunk of a block says besides its events. Undefined if the keys of the shard's trie are not
   * followed.
   */
  readonly keyRecordsOf?: ((block: number) => readonly Uint8Array[]) | undefined;
}

/** Returns the operations of blocks of a data shard. */
export function relayedBlocks(
  rules: RelayRules,
  { shard, isJournal, keyRecordsOf }: BlockSource,
  blocks: readonly ShardBlock[],
): Relayed {
  const parts: RelayedBlocks["parts"][number][] = [];
  const [first = 0, last = first] = [blocks[0]?.number, blocks.at(-1)?.number];
  const run = { shard, first, last, parts, isJournal };
  const unknown: UnknownRecord[] = [];
  const relayed: BlockContext["relayed"] = {
    ops: [],
    mentioned: [],
    usernames: [],
    hubBlocks: [],
    blocks: run,
    unknown,
  };
  for (const shardBlock of blocks) {
    const before = relayed.ops.length;
    const logged = rules.logsHubEvents ? new LoggedEvents(shard, shardBlock) : undefined;
    const { events } = shardBlock;
    if (!isJournal) unknown.push(...(shardBlock.unknown ?? []));
    const decode = decodingOnce();
    let links: LinksByAuthor | undefined;
    const linksOf = (fid: number) => {
      links ??= linksByAuthor(decode, events);
      return links.get(fid) ?? [];
    };
    const { number } = shardBlock;
    const block = {
      rules,
      shard,
      number,
      blockTime: toUnixSecs(shardBlock.timestamp),
      relayed,
      logged,
      linksOf,
      decode,
    };
    for (const event of events) relayEvent(block, event);
    if (logged) relayed.hubBlocks.push(logged.block());
    parts.push({
      number: shardBlock.number,
      time: toUnixSecs(shardBlock.timestamp),
      ops: relayed.ops.length - before,
      ...(keyRecordsOf && {
        keyRecords: packBytes([...keyRecordsOfEvents(events, decode), ...keyRecordsOf(shardBlock.number)]),
      }),
    });
  }
  return relayed;
}

/** The context of a block that is being converted into operations. */
interface BlockContext {
  readonly rules: RelayRules;
  readonly shard: number;
  readonly number: number;
  /** Unix seconds. */
  readonly blockTime: number;
  readonly relayed: Relayed & { readonly unknown: UnknownRecord[] };
  /** Undefined while hub events are not logged. */
  readonly logged: LoggedEvents | undefined;
  /** Returns the hashes of the links by an author that the block merges. */
  readonly linksOf: (fid: number) => readonly Uint8Array[];
  /** Decodes each message of the block once. */
  readonly decode: DecodeMessage;
}

function relayEvent(block: BlockContext, event: FollowedEvent): void {
  const { rules, blockTime, relayed, logged } = block;
  const { body } = event;
  switch (body?.$case) {
    case "merge":
      relayMerge(block, event, body.value);
      break;
    case "prune":
    case "revoke": {
      const removed = storedIn(block, body.value.message);
      if (!removed) break;
      logged?.add(event, removed.data.fid);
      const ref = refOf(block, removed);
      if (ref) relayed.ops.push({ kind: "remove", ref, happenedAt: blockTime });
      break;
    }
    case "proofs": {
      const op = proofOp(rules, blockTime, body.value);
      if (!op) break;
      relayed.ops.push(op);
      logged?.add(event, fidOfProofs(body.value));
      break;
    }
    case "onChainEvent": {
      const unknown = unknownOnChainEvent(body.value.event, placeOf(block, event));
      if (unknown) return void relayed.unknown.push(unknown);
      const onChain = validatedEvent(rules, body.value.event);
      if (!onChain) break;
      const op = onChainOp(block, event, onChain);
      if (op) relayed.ops.push(op);
      if (isRegistration(onChain) || op) logged?.add(event, onChain.fid);
      break;
    }
    case "ownerChangeHint":
      logged?.add(event, 0);
  }
}

function placeOf({ shard, number }: BlockContext, { id }: FollowedEvent): RecordPlace {
  return { shard, block: number, position: id };
}

/**
 * Returns the operation of an on-chain event. A registration is taken from shard 0, if there is one, because the data shard
 * only repeats it.
 */
function onChainOp(
  { rules, blockTime }: BlockContext,
  { id, body }: FollowedEvent,
  onChain: OnChainEvent,
): RelayedOp | undefined {
  if (body?.$case !== "onChainEvent") return undefined;
  const event = body.value.event.slice();
  if (!isRegistration(onChain))
    return rules.scope.includesEvent(onChain.fid, onChain.type)
      ? { kind: "onChainEvent", event, happenedAt: onChain.blockTimestamp }
      : undefined;
  if (rules.hasBlockShard) return undefined;
  const decision = { seqnum: id, decidedAt: blockTime };
  return { kind: "registration", event, decision, happenedAt: blockTime };
}

function isRegistration({ type }: OnChainEvent): boolean {
  return type === OnChainEventType.EVENT_TYPE_CHANNEL_REGISTER;
}

/**
 * Returns the operations of a channel message. Every data shard repeats it, in no order, so it is only logged. Without shard
 * 0, the single data shard has the order of decisions, including those about owners.
 */
function channelOps(
  { rules, blockTime }: BlockContext,
  { id }: FollowedEvent,
  message: SignedMessage,
  encoded: Uint8Array,
): RelayedOp[] {
  if (rules.hasBlockShard) return [];
  const decision = { seqnum: id, decidedAt: blockTime };
  if (isChannelMessage(message.data))
    return [{ kind: "channel", message: encoded, decision, happenedAt: blockTime }];
  const isClaim = isStored(rules, message) && slotOf(message).store === Store.Verifications;
  return isClaim
    ? [{ kind: "claim", message: encoded, decision, isForced: false, happenedAt: blockTime }]
    : [];
}

/** Returns the operations of a merge. A message that this node refuses is not merged, but its removals count. */
function relayMerge(
  block: BlockContext,
  event: FollowedEvent,
  { message: bytes, deletedMessages }: FollowedMerge,
): void {
  const { rules, shard, blockTime, relayed, logged, decode } = block;
  const removed = deletedMessages.flatMap((one) => storedIn(block, one) ?? []);
  const deleted = removed.flatMap((one) => refOf(block, one) ?? []);
  const unknown = unknownMessage(bytes, placeOf(block, event), decode);
  if (unknown) relayed.unknown.push(unknown);
  const isRequested = (one: SignedMessage) =>
    isStored(rules, one) || isKeyEvent(rules, one) || isChannelMessage(one.data);
  const message = unknown ? undefined : validateRelayed(rules, bytes, isRequested, decode);
  if (!message) {
    for (const ref of deleted) relayed.ops.push({ kind: "remove", ref, happenedAt: blockTime });
    logged?.addRemovals(event.id, removed);
    return;
  }
  const encoded = encodeMessage(message);
  logged?.addMerge(event.id, { fid: message.data.fid, encoded, deletedMessages });
  relayed.ops.push(...channelOps(block, event, message, encoded));
  if (isChannelMessage(message.data)) return;
  if (!isOfShard(rules, shard, message)) {
    for (const ref of deleted) relayed.ops.push({ kind: "remove", ref, happenedAt: blockTime });
    return;
  }
  relayed.ops.push(
    keyOp(message) ?? mergeOp(message, deleted, { encoded, spared: sparedBy(block, message) }),
  );
  const { fid } = message.data;
  const name = usernameOf(message);
  if (name !== undefined && rules.scope.includesNames(fid)) relayed.usernames.push({ fid, name });
  if (rules.scope.shareOf(fid) === "all")
    relayed.mentioned.push(...rules.scope.addMentioned(mentionedFids(message.data)));
}

function fidOfProofs({ proof, deletedProof }: FollowedProofs): number {
  const shown = proof ?? deletedProof;
  return shown ? UserNameProof.decode(shown).fid : 0;
}

/** Returns the message in `bytes` if this node stores such messages by its author. Its signature is not checked. */
function storedIn({ rules, decode }: BlockContext, bytes: Uint8Array): SignedMessage | undefined {
  const decoded = decode(bytes);
  return decoded.ok && isStored(rules, decoded.value) ? decoded.value : undefined;
}

/** Returns the reference of a message reported by its author's shard. */
function refOf({ rules, shard }: BlockContext, message: SignedMessage): MessageRef | undefined {
  if (!isOfShard(rules, shard, message)) return undefined;
  const { store, slot } = slotOf(message);
  return { fid: message.data.fid, store, slot: Uint8Array.from(slot), hash: message.hash.slice() };
}

/**
 * Reports whether a report of a message counts. Every data shard reports the messages that shard 0 decides, but only the
 * report of their author's shard counts.
 */
function isOfShard({ shards }: RelayRules, shard: number, { data }: SignedMessage): boolean {
  return shard !== BLOCK_SHARD && shardOfFid(data.fid, shards) === shard;
}

function isStored({ scope }: RelayRules, message: SignedMessage): boolean {
  const { type, fid, body } = message.data;
  if (body === undefined || type === MessageType.MESSAGE_TYPE_FRAME_ACTION) return false;
  if (body.$case === "frameActionBody" || isChannelMessage(message.data)) return false;
  const { store } = slotOf(message);
  return !NOT_STORED_AS_MESSAGES.has(store) && scope.includesStore(fid, store);
}

function sparedBy({ linksOf }: BlockContext, { data }: SignedMessage): readonly Uint8Array[] | undefined {
  return data.body?.$case === "linkCompactStateBody" ? linksOf(data.fid) : undefined;
}

/** Reports whether a message changes a gasless key and the data shard decides that, because there is no shard 0. */
function isKeyEvent({ hasBlockShard, scope }: RelayRules, { data }: SignedMessage): boolean {
  const { type } = data;
  const isKey = type === MessageType.MESSAGE_TYPE_KEY_ADD || type === MessageType.MESSAGE_TYPE_KEY_REMOVE;
  return isKey && !hasBlockShard && scope.shareOf(data.fid) === "all";
}
