import { addSpooledFid } from "../db/index/bulk/spool-tables.ts";
import { noteChannelsActive } from "../db/index/channels/follows.ts";
import { channelHistoryOf, noteDecidedEvent } from "../db/index/channels/history.ts";
import { isDecidedOtherwise, isLastClaim, putReportedClaim } from "../db/index/channels/owner-claims.ts";
import type { TotalsDelta } from "../db/index/counts/totals.ts";
import type { BlockRef } from "../db/index/log/outbox.ts";
import { dropFromTodo } from "../db/index/upstream-work.ts";
import { resolveConflict, Store, slotOf } from "../protocol/message/merge-rules.ts";
import type { SignedMessage } from "../protocol/message/signed-message.ts";
import { UserNameProof } from "../protocol/wire/generated/message.ts";
import { OnChainEvent } from "../protocol/wire/generated/on-chain.ts";
import type { EventCause } from "./events.ts";
import { applyRegistryEvent } from "./merge/channel-changes.ts";
import {
  applyChannelMessage,
  applyChannelState,
  applyOwnerClaim,
  applyOwnerState,
  completeChannels,
  forceVerification,
} from "./merge/channels.ts";
import { raiseNonces, removeGaslessKey, storeGaslessKey } from "./merge/keys/gasless-key-store.ts";
import { renewGaslessSigner } from "./merge/keys/gasless-keys.ts";
import { applyCompactState, type MergeContext } from "./merge/merge.ts";
import { decodeStored } from "./merge/message-store.ts";
import { mergeOnChainEvent, removeOnChainEvent, storeOnChainEvent } from "./merge/registry.ts";
import { addRelayedProof, removeRelayedProof } from "./relay-proofs.ts";
import type { MessageRef, SingleOp } from "./relayed-op.ts";

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

/** Applies one operation, inside a write transaction. */
export function applyRelayedOp(context: MergeContext, totals: TotalsDelta, op: SingleOp): void {
  // Data read from the state of the upstream is already in the tries, but a decision is ahead of them.
  if (op.happenedAt === 0 && op.kind !== "claim")
    context.keys.readingState(() => applyOp(context, totals, op), hasKnownKeys(op));
  else applyOp(context, totals, op);
}

/** Reports whether an index that knows all keys of the tries knows those of a record that it lacks. */
function hasKnownKeys(op: SingleOp): boolean {
  return op.kind === "registration" || (op.kind === "proof" && op.isShownOnly === true);
}

function applyOp(context: MergeContext, totals: TotalsDelta, op: SingleOp): void {
  switch (op.kind) {
    case "merge": {
      const message = decodeStored(op.message);
      if (isLateCopy(context, message)) break;
      for (const ref of op.deleted) remove(context, ref);
      merge(context, message, op.spared);
      break;
    }
    case "put":
      put(context, decodeStored(op.message));
      break;
    case "remove":
      remove(context, op.ref);
      break;
    case "onChainEvent":
      replaceOnChainEvent(context, totals, OnChainEvent.decode(op.event));
      break;
    case "registration":
      register(context, totals, op);
      break;
    case "channelState":
      applyChannelState(context, op.slot, op.authorFid);
      break;
    case "ownerState":
      applyOwnerState(context, op);
      break;
    case "claimState":
      putReportedClaim(context.db, op);
      break;
    case "channelsComplete":
      completeChannels(context);
      break;
    case "channel":
      applyChannelMessage(context, decodeStored(op.message), op.decision);
      break;
    case "claim":
      claim(context, op);
      break;
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

/** Applies an operation that accompanies messages for the bulk build, which derives what follows from on-chain events. */
export function applySpooledOp(context: MergeContext, totals: TotalsDelta, op: SingleOp): void {
  if (op.kind === "merge" || op.kind === "put" || op.kind === "remove" || op.kind === "claim")
    throw new Error(`the operation ${op.kind} needs the index that is being built`);
  if (op.kind === "onChainEvent") storeOnChainEvent(context.db, OnChainEvent.decode(op.event));
  else applyRelayedOp(context, totals, op);
  if (op.kind === "fidComplete") addSpooledFid(context.db, op.fid);
}

function claim(
  context: MergeContext,
  { message: bytes, decision, isForced, happenedAt }: Extract<SingleOp, { kind: "claim" }>,
): void {
  const message = decodeStored(bytes);
  const { store, slot } = slotOf(message);
  const { fid } = message.data;
  const current = context.store.get(fid, store, slot);
  // While the decision itself is still unread history, the data shard's copy of it looks like a late one. What it displaced
  // must not stay.
  const isStale =
    happenedAt === 0 &&
    current !== undefined &&
    isLastClaim(context.db, { fid, address: slot, hash: current.hash });
  if (applyOwnerClaim(context, message, decision) && (isForced || isStale))
    forceVerification(context, message);
}

function register(
  context: MergeContext,
  totals: TotalsDelta,
  { event: bytes, decision }: Extract<SingleOp, { kind: "registration" }>,
): void {
  const { db } = context;
  if (decision) noteChannelsActive(db, decision.decidedAt);
  const event = OnChainEvent.decode(bytes);
  const isHistoryDue = !channelHistoryOf(db).isDone;
  const refusal = mergeOnChainEvent(context, totals, event);
  if (decision && decision.seqnum > 0 && isHistoryDue && refusal?.code !== "bad_request.conflict")
    noteDecidedEvent(db, event, decision.seqnum);
  // The event may have been stored while its channel was not. It is then repeated later, and its first application may have
  // had no effect.
  if (refusal?.code === "bad_request.duplicate" && isHistoryDue) applyRegistryEvent(context, event);
}

/**
 * Merges a message. The protocol's own comparison decides who gets the slot, so a repeated message never replaces a later
 * one. A compact state removes its links at each repetition, because operations repeated before it may have added them
 * again. Those that its block merged stay at each repetition too.
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

/**
 * Reports whether a verification is the author's shard's copy for an address about which shard 0 has decided since. Shard
 * 0's decision is served at once, so the copy and what it displaced there do not matter.
 */
function isLateCopy({ db }: MergeContext, message: SignedMessage): boolean {
  const { store, slot } = slotOf(message);
  if (store !== Store.Verifications) return false;
  return isDecidedOtherwise(db, { fid: message.data.fid, address: slot, hash: message.hash });
}

function put(context: MergeContext, message: SignedMessage): void {
  const { fid } = message.data;
  const messageSlot = slotOf(message);
  const current = context.store.get(fid, messageSlot.store, messageSlot.slot);
  if (current?.is(message)) return;
  if (current) context.store.remove(current, "displaced");
  if (!endsLend(message) && context.store.hasRoomFor(message)) context.store.put(message, messageSlot);
}

function remove(context: MergeContext, { fid, store, slot, hash }: MessageRef): void {
  const current = context.store.get(fid, store, slot);
  if (current && Buffer.compare(current.hash, hash) === 0) context.store.remove(current, "displaced");
}

/** Reports whether a message is a lend of 0 units, which ends the previous lend and leaves no row. */
function endsLend({ data }: SignedMessage): boolean {
  return data.body?.$case === "lendStorageBody" && data.body.value.numUnits === 0;
}

/** Replaces the on-chain event at a position, which has a single event: the one that the upstream reported last. */
function replaceOnChainEvent(context: MergeContext, totals: TotalsDelta, event: OnChainEvent): void {
  if (mergeOnChainEvent(context, totals, event)?.code !== "bad_request.conflict") return;
  removeOnChainEvent(context, totals, event);
  mergeOnChainEvent(context, totals, event);
}
