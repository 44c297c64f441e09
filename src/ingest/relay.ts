import type { PackedMessages } from "../db/index/bulk/bulk-state.ts";
import { addSpooledFid, type SpooledPart } from "../db/index/bulk/spool-tables.ts";
import { noteChannelsActive } from "../db/index/channels/follows.ts";
import { applyRegistration } from "../db/index/channels/registrations.ts";
import type { TotalsDelta } from "../db/index/counts/totals.ts";
import type { FollowedFids } from "../db/index/identity.ts";
import type { HubLogBlock } from "../db/index/log/hub-log.ts";
import type { BlockRef } from "../db/index/log/outbox.ts";
import type { PositionUpdate } from "../db/index/positions.ts";
import type { StoredMessage } from "../db/index/project/stored-message.ts";
import type { OpaqueAt } from "../db/index/trie/opaque.ts";
import type { UnknownRecord } from "../db/index/unknown-records.ts";
import { type ChainHead, dropFromTodo, type JournaledBlock } from "../db/index/upstream-work.ts";
import { type ByteList, unpackBytes } from "../lib/bytes.ts";
import type { ChannelSlot } from "../protocol/channels/slots.ts";
import { resolveConflict, type Store, slotOf } from "../protocol/message/merge-rules.ts";
import type { SignedMessage } from "../protocol/message/signed-message.ts";
import { UserNameProof } from "../protocol/wire/generated/message.ts";
import { OnChainEvent } from "../protocol/wire/generated/on-chain.ts";
import type { EventCause } from "./events.ts";
import {
  applyChannelMessage,
  applyChannelState,
  applyOwnerClaim,
  applyOwnerState,
  type Decision,
  forceVerification,
} from "./merge/channels.ts";
import {
  type GaslessKey,
  type KeyNonces,
  type KeyRemoval,
  raiseNonces,
  removeGaslessKey,
  storeGaslessKey,
} from "./merge/gasless-key-store.ts";
import { renewGaslessSigner } from "./merge/gasless-keys.ts";
import { applyCompactState, type MergeContext } from "./merge/merge.ts";
import { decodeStored } from "./merge/message-store.ts";
import {
  mergeOnChainEvent,
  type OnChainEventRef,
  removeOnChainEvent,
  storeOnChainEvent,
} from "./merge/registry.ts";
import { addRelayedProof, removeRelayedProof } from "./relay-proofs.ts";
import type { HealedAccount } from "./trie/heal-account.ts";
import type { SnapshotKeys } from "./trie/snapshot-keys.ts";

/** Identifies a message in its slot. */
export interface MessageRef {
  readonly fid: number;
  readonly store: Store;
  readonly slot: Uint8Array;
  readonly hash: Uint8Array;
}

/**
 * An operation that the upstream did, or a part of its state. It is not admitted, limited or revoked here: the
 * upstream has decided. Each operation can be applied again, also over a state that is ahead of it. Applied in order
 * up to the newest, the operations produce the state of the upstream. `happenedAt` is in unix seconds; it is 0 for
 * operations that come from reading the state, which produce no events.
 */
export type RelayedOp = { readonly happenedAt: number } & (
  | {
      /** A message became live in place of `deleted`. */
      readonly kind: "merge";
      readonly message: Uint8Array;
      readonly deleted: readonly MessageRef[];
      /**
       * Of a compact state: the hashes of the links of its block. The network compacts what was committed before the block, so
       * these stay.
       */
      readonly spared?: readonly Uint8Array[];
    }
  /** A message is live. Any other message in its slot is not. */
  | { readonly kind: "put"; readonly message: Uint8Array }
  /** Many messages are live, each as with `put`. */
  | { readonly kind: "putAll"; readonly messages: ByteList }
  /** A message is no longer live. */
  | { readonly kind: "remove"; readonly ref: MessageRef }
  | { readonly kind: "onChainEvent"; readonly event: Uint8Array }
  | {
      /** An event of the channels' registry. */
      readonly kind: "registration";
      readonly event: Uint8Array;
      /** Undefined for one of a list. */
      readonly decision: Decision | undefined;
    }
  /** What holds a slot of a channel, without its message. Every decision replaces it. */
  | { readonly kind: "channelState"; readonly slot: ChannelSlot; readonly authorFid: number }
  /** The fid, or none, that owns the channels of an address. Every decision replaces it. */
  | { readonly kind: "ownerState"; readonly fid: number; readonly address: Uint8Array }
  /** Shard 0 decided a message of a channel. */
  | { readonly kind: "channel"; readonly message: Uint8Array; readonly decision: Decision }
  | {
      /** Shard 0 decided a verification, which counts for owners of channels. */
      readonly kind: "claim";
      readonly message: Uint8Array;
      readonly decision: Decision;
      /** Whether it is also the live verification of its author from now on, if it is in scope and was not decided before. */
      readonly isForced: boolean;
    }
  | { readonly kind: "removeOnChainEvent"; readonly ref: OnChainEventRef }
  | {
      readonly kind: "proof";
      readonly added?: Uint8Array | undefined;
      readonly removed?: Uint8Array | undefined;
      /** `added` is ignored unless another proof of the name is shown. */
      readonly onlyIfShown?: boolean;
      /** `added` is of a name that its user shows and the upstream's list of the fid, or its snapshot, does not have. */
      readonly isShownOnly?: boolean;
    }
  /** An opaque child of an account in a shard's trie, as it is now. */
  | { readonly kind: "opaque"; readonly child: OpaqueAt }
  | { readonly kind: "key"; readonly key: GaslessKey }
  | {
      readonly kind: "removeKey";
      readonly fid: number;
      readonly key: Uint8Array;
      /** Undefined if the key is missing from the upstream's state, without a known removal. */
      readonly removal?: KeyRemoval;
    }
  | { readonly kind: "keyNonces"; readonly nonces: KeyNonces }
  /** All operations of an fid's state on the upstream precede this one. */
  | { readonly kind: "fidComplete"; readonly fid: number }
);

/** Blocks of one shard that follow each other, whose operations a batch has. */
export interface RelayedBlocks {
  readonly shard: number;
  readonly first: number;
  readonly last: number;
  /** In order; blocks without operations may be left out. */
  readonly parts: readonly {
    readonly number: number;
    /** Unix seconds. */
    readonly time: number;
    /** The number of its operations. */
    readonly ops: number;
    /** What the block says about the keys of its shard's trie (see `KeyRecord`), where they are followed. */
    readonly keyRecords?: ByteList;
  }[];
  /** Whether they were journaled while the state was read: their changes may be part of that state. */
  readonly isJournal: boolean;
}

/** Operations and the positions that they reach. The batch is atomic. */
export interface RelayedBatch {
  /**
   * Messages for the bulk build of an index that began empty. The operations are then only those that read no messages. Undefined
   * for a batch that is written row by row.
   */
  readonly spooled?: readonly PackedMessages[] | undefined;
  /** Fids whose messages the spool has with this batch, as a snapshot has them. */
  readonly spooledFids?: readonly number[];
  /** How far the virtual shards of snapshots are in the spool with this batch. */
  readonly spooledParts?: readonly SpooledPart[];
  /** The number of data shards of the network. It is stored in an index without messages. */
  readonly shards?: number;
  readonly ops: readonly RelayedOp[];
  readonly positions: readonly PositionUpdate[];
  /** Blocks to append to the log of hub events: those whose operations these are. */
  readonly hubBlocks?: readonly HubLogBlock[];
  /** The blocks whose operations these are; undefined for operations of no block. */
  readonly blocks?: RelayedBlocks | undefined;
  /** Whether the operations change the network's tries as its verified blocks say, so that their keys are followed. */
  readonly followsKeys?: boolean | undefined;
  /** What snapshots say about the keys of the tries, beside the spooled records. */
  readonly snapshotKeys?: readonly SnapshotKeys[];
  /** The account that the operations make equal to the network's. Without that, nothing of the batch is applied. */
  readonly healed?: HealedAccount;
  /** The data shards whose snapshots are all in the spool, and the block from which on their keys are known. */
  readonly keysKnown?: readonly { readonly shard: number; readonly from: number }[];
  /** Blocks to append to the journal. */
  /** Records of kinds that this program does not know. They are kept. */
  readonly unknown?: readonly UnknownRecord[];
  /** Kept records that are applied by this batch. */
  readonly recovered?: readonly number[];
  readonly journal?: { readonly shard: number; readonly blocks: readonly JournaledBlock[] };
  /** The newest verified or followed blocks, whose contents or journal are in this batch. */
  readonly heads?: readonly ChainHead[];
  /** Blocks of the journal to delete, up to and including `upTo`. */
  readonly discardedJournal?: readonly { readonly shard: number; readonly upTo: number }[];
  /** Fids to add to the todo list: their state must be read from the upstream. */
  readonly todo?: readonly number[];
  /** Fids whose profiles must be stored from now on. Those that are new are added to the todo list. */
  readonly mentioned?: readonly number[];
  /** The fids whose whole state is stored when the todo list is done. */
  readonly followed?: FollowedFids;
  /** Discards the journal and the todo list first. */
  readonly startsOver?: boolean;
}

/** Returns the cause of the events that follow from an operation. */
export function causeOfRelayed(op: SingleOp, block: BlockRef | undefined): EventCause {
  return { ...causeOf(op), block };
}

function causeOf(op: SingleOp): EventCause {
  const { happenedAt } = op;
  switch (op.kind) {
    case "merge":
    case "put":
    case "claim":
      return { happenedAt, reference: () => decodeStored(op.message).hash };
    case "remove":
      return { happenedAt, reference: () => referenceOfRemoval(op.ref.hash) };
    case "onChainEvent": {
      const { type, fid, blockNumber, logIndex } = OnChainEvent.decode(op.event);
      return { happenedAt, reference: () => Buffer.from(`${type}:${fid}:${blockNumber}:${logIndex}`) };
    }
    case "proof":
      return { happenedAt, reference: () => op.added ?? referenceOfRemoval(op.removed ?? new Uint8Array()) };
    default:
      return { happenedAt, reference: () => new Uint8Array() };
  }
}

/**
 * Returns the reference of an operation that removes a message or a proof. The reference of its addition is the same
 * bytes without the prefix, so the user updates of the addition and the removal have different event ids.
 */
function referenceOfRemoval(removed: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from("drop"), removed]);
}

/** An operation on one record. */
export type SingleOp = Exclude<RelayedOp, { readonly kind: "putAll" }>;

/** Yields the operations on single records that operations consist of. */
export function* singleOps(ops: readonly RelayedOp[]): Generator<SingleOp> {
  for (const op of ops) {
    if (op.kind !== "putAll") yield op;
    else
      for (const message of unpackBytes(op.messages))
        yield { kind: "put", message, happenedAt: op.happenedAt };
  }
}

/** Returns the number of records that an operation concerns. */
export function sizeOfOp(op: RelayedOp): number {
  return op.kind === "putAll" ? op.messages.count : 1;
}

/** Applies one operation, inside a write transaction. */
export function applyRelayedOp(context: MergeContext, totals: TotalsDelta, op: SingleOp): void {
  // What is read from the state of the upstream is in the tries already.
  if (op.happenedAt === 0) context.keys.readingState(() => applyOp(context, totals, op), hasKnownKeys(op));
  else applyOp(context, totals, op);
}

/** Whether an index that knows all keys of the tries knows those of a record that it lacks. */
function hasKnownKeys(op: SingleOp): boolean {
  return op.kind === "registration" || (op.kind === "proof" && op.isShownOnly === true);
}

function applyOp(context: MergeContext, totals: TotalsDelta, op: SingleOp): void {
  switch (op.kind) {
    case "merge":
      for (const ref of op.deleted) remove(context, ref);
      merge(context, decodeStored(op.message), op.spared);
      break;
    case "put":
      put(context, decodeStored(op.message));
      break;
    case "remove":
      remove(context, op.ref);
      break;
    case "onChainEvent":
      replaceOnChainEvent(context, totals, OnChainEvent.decode(op.event));
      break;
    case "registration": {
      if (op.decision) noteChannelsActive(context.db, op.decision.decidedAt);
      const event = OnChainEvent.decode(op.event);
      // The event may be stored while its channel is not.
      if (mergeOnChainEvent(context, totals, event)) applyRegistration(context.db, event);
      break;
    }
    case "channelState":
      applyChannelState(context, op.slot, op.authorFid);
      break;
    case "ownerState":
      applyOwnerState(context, op.address, op.fid);
      break;
    case "channel":
      applyChannelMessage(context, decodeStored(op.message), op.decision);
      break;
    case "claim": {
      const message = decodeStored(op.message);
      if (applyOwnerClaim(context, message, op.decision) && op.isForced) forceVerification(context, message);
      break;
    }
    case "removeOnChainEvent":
      removeOnChainEvent(context, totals, op.ref);
      break;
    case "proof":
      if (op.removed) removeRelayedProof(context, UserNameProof.decode(op.removed));
      if (op.added) addRelayedProof(context, UserNameProof.decode(op.added), op.onlyIfShown === true);
      break;
    case "key":
      context.signers.clear();
      storeGaslessKey(context.db, op.key);
      break;
    case "removeKey":
      removeGaslessKey(context.db, op.fid, op.key, op.removal);
      break;
    case "opaque":
      context.keys.refreshed(op.child);
      break;
    case "keyNonces":
      raiseNonces(context.db, op.nonces);
      break;
    case "fidComplete":
      dropFromTodo(context.db, op.fid);
  }
}

/**
 * Applies an operation beside messages for the bulk build. What follows from on-chain events is derived by the build.
 */
export function applySpooledOp(context: MergeContext, totals: TotalsDelta, op: SingleOp): void {
  if (op.kind === "merge" || op.kind === "put" || op.kind === "remove" || op.kind === "claim")
    throw new Error(`the operation ${op.kind} needs the index that is being built`);
  if (op.kind === "onChainEvent") storeOnChainEvent(context.db, OnChainEvent.decode(op.event));
  else applyRelayedOp(context, totals, op);
  if (op.kind === "fidComplete") addSpooledFid(context.db, op.fid);
}

/**
 * The protocol's own comparison decides who gets the slot, so a message that is repeated never replaces a later one.
 * A compact state removes its links at each repetition: operations that were repeated before it may have added them
 * again. Those that its block merged stay at each repetition, too.
 */
function merge(context: MergeContext, message: SignedMessage, spared?: readonly Uint8Array[]): void {
  const { data, hash } = message;
  const { store, slot, kind } = slotOf(message);
  const current = context.store.get(data.fid, store, slot);
  const outcome = current
    ? resolveConflict(store, current, { kind, timestamp: data.timestamp, hash })
    : "replace";
  if (outcome === "replace") {
    if (current) context.store.remove(current, "displaced");
    if (!endsLend(message) && context.store.hasRoomFor(message))
      context.store.put(message, { store, slot, kind });
  } else context.keys.message(message, outcome === "duplicate", false);
  if (data.body?.$case === "linkCompactStateBody")
    applyCompactState(context, data.fid, data.body.value, data, spared);
  renewGaslessSigner(context, message);
}

function put(context: MergeContext, message: SignedMessage): void {
  const { fid } = message.data;
  const messageSlot = slotOf(message);
  const current = context.store.get(fid, messageSlot.store, messageSlot.slot);
  if (current?.kind === messageSlot.kind && isSame(current, message)) return;
  if (current) context.store.remove(current, "displaced");
  if (!endsLend(message) && context.store.hasRoomFor(message)) context.store.put(message, messageSlot);
}

function remove(context: MergeContext, { fid, store, slot, hash }: MessageRef): void {
  const current = context.store.get(fid, store, slot);
  if (current && Buffer.compare(current.hash, hash) === 0) context.store.remove(current, "displaced");
}

/** Compares the times first, because the hash of a stored message may have to be computed. */
function isSame(stored: StoredMessage, { data, hash }: SignedMessage): boolean {
  return stored.timestamp === data.timestamp && Buffer.compare(stored.hash, hash) === 0;
}

/** A lend of 0 units ends the one before it and leaves no row. */
function endsLend({ data }: SignedMessage): boolean {
  return data.body?.$case === "lendStorageBody" && data.body.value.numUnits === 0;
}

/** One place on the chain has one event: the one that the upstream reported last. */
function replaceOnChainEvent(context: MergeContext, totals: TotalsDelta, event: OnChainEvent): void {
  if (mergeOnChainEvent(context, totals, event)?.code !== "bad_request.conflict") return;
  removeOnChainEvent(context, totals, event);
  mergeOnChainEvent(context, totals, event);
}
