import { channelsActiveAt, noteChannelsActive } from "../../db/index/channels/follows.ts";
import { dropDecidedEvents, noteChannelRead, seqnumOfEvent } from "../../db/index/channels/history.ts";
import {
  dropForgottenClaims,
  fidOfOwner,
  putOwnerClaim,
  putReportedOwner,
  seqnumOfClaim,
} from "../../db/index/channels/owner-claims.ts";
import {
  findRegistration,
  ownerChanged,
  putReportedRegistration,
  type ReportedRegistration,
  reapplyRegistrations,
  renameChannel,
  settingsOf,
} from "../../db/index/channels/registrations.ts";
import { noteReplaced } from "../../db/index/channels/replaced.ts";
import {
  countsOfChannel,
  dropForgottenSlots,
  findSlot,
  putSlot,
  type SlotUpdate,
} from "../../db/index/channels/slots.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { onChainEventsOf } from "../../db/index/project/on-chain.ts";
import { type ChannelView, channelRefusal } from "../../protocol/channels/authority.ts";
import {
  type ChannelSlot,
  ChannelSlotKind,
  channelSlotOf,
  MemberState,
  memberTarget,
  modesOf,
} from "../../protocol/channels/slots.ts";
import { Kind, Store, slotOf } from "../../protocol/message/merge-rules.ts";
import { encodeMessage, type SignedMessage } from "../../protocol/message/signed-message.ts";
import { DUPLICATE, invalid, type Rejection } from "../../protocol/rejection.ts";
import { toUnixSecs } from "../../protocol/time.ts";
import { OnChainEventType } from "../../protocol/wire/generated/on-chain.ts";
import { trackOwner, trackSlot } from "./channel-changes.ts";
import type { MergeContext } from "./merge.ts";
import { decodeStored } from "./message-store.ts";

/** Position of a decision by shard 0. */
export interface Decision {
  /** Number of its event. Events with a lower number no longer change anything. */
  readonly seqnum: number;
  /** Time of its block, in Unix seconds. */
  readonly decidedAt: number;
}

/**
 * Gives a slot to a message that the network has decided. Authority is not checked again, because owners may have changed
 * since.
 */
export function applyChannelMessage(context: MergeContext, message: SignedMessage, decision: Decision): void {
  const slot = channelSlotOf(message.data);
  if (!slot) return;
  noteChannelsActive(context.db, decision.decidedAt);
  takeSlot(context, slot, message, decision.seqnum);
}

function takeSlot(context: MergeContext, slot: ChannelSlot, message: SignedMessage, seqnum: number): void {
  const { fid: authorFid, timestamp } = message.data;
  const stored = storeSlot(context.db, {
    slot,
    authorFid,
    timestamp,
    seqnum,
    message: encodeMessage(message),
  });
  if (stored?.channel) trackSlot(context, stored.channel, { slot, message, seqnum, before: stored.before });
}

/**
 * Stores the content of a slot. Returns the previous content, and the channel if it is registered; undefined if nothing
 * changed.
 */
function storeSlot(db: IndexDatabase, update: SlotUpdate) {
  const { kind, channelId } = update.slot;
  const put = putSlot(db, update);
  if (!put) return undefined;
  if (put.before?.message) noteReplaced(db, decodeStored(put.before.message).hash);
  if (kind === ChannelSlotKind.Settings) renameChannel(db, channelId);
  const channel = findRegistration(db, channelId);
  if (channel) db.invalidations.channel(channel.id);
  return { before: put.before, channel };
}

/** State that the upstream reports without a decision is older than every decision. */
const OLDEST = 0;

/** Stores the state of a slot as the upstream reports it: without message and time. */
export function applyChannelState({ db }: MergeContext, slot: ChannelSlot, authorFid: number): void {
  storeSlot(db, { slot, authorFid, timestamp: 0, seqnum: OLDEST, message: null });
}

/**
 * Stores that a channel belongs to an address, and who owns the address, as the upstream reports it. `fid` is 0 for no one.
 */
export function applyOwnerState(
  { db }: MergeContext,
  {
    address,
    fid,
    channel,
  }: { readonly address: Uint8Array; readonly fid: number; readonly channel: ReportedRegistration },
): void {
  putReportedRegistration(db, address, channel);
  noteChannelRead(db, channel.channelId);
  putReportedOwner(db, address, fid);
  ownerChanged(db, address);
}

/**
 * Drops what was known of channels and their owners but is not part of what the upstream has. Events of the registry are
 * applied again, in the order of their decisions, because those followed while the history was being read were ahead of it.
 */
export function completeChannels({ db }: MergeContext): void {
  const events = onChainEventsOf(db, OnChainEventType.EVENT_TYPE_CHANNEL_REGISTER, 0);
  reapplyRegistrations(db, events, (event) => seqnumOfEvent(db, event));
  dropDecidedEvents(db);
  dropForgottenClaims(db);
  for (const channelId of dropForgottenSlots(db)) renameChannel(db, channelId);
  db.invalidations.everything();
}

/** Records the fid that last verified an address on shard 0 and thereby owns the channels of the address. */
export function applyOwnerClaim(context: MergeContext, message: SignedMessage, decision: Decision): boolean {
  const { db } = context;
  const { store, slot: address, kind } = slotOf(message);
  if (store !== Store.Verifications) return false;
  noteChannelsActive(db, decision.decidedAt);
  const { fid, timestamp } = message.data;
  const claim = {
    fid,
    address,
    isAdd: kind === Kind.Add,
    timestamp,
    hash: message.hash,
    seqnum: decision.seqnum,
  };
  const ownerBefore = fidOfOwner(db, address);
  if (!putOwnerClaim(db, claim)) return false;
  ownerChanged(db, address);
  trackOwner(context, { address, message, seqnum: claim.seqnum }, ownerBefore);
  return true;
}

/**
 * Makes a verification that shard 0 decided the live one of its address, whatever its time. The data shard of its author
 * does the same later, also without comparing times.
 */
export function forceVerification({ store }: MergeContext, message: SignedMessage): void {
  const messageSlot = slotOf(message);
  const current = store.get(message.data.fid, messageSlot.store, messageSlot.slot);
  if (current?.is(message)) return;
  if (current) store.remove(current, "displaced");
  store.put(message, messageSlot);
}

/** Admits and merges a message of a channel on a node that decides by itself, as shard 0 would. */
export function mergeChannelMessage(context: MergeContext, message: SignedMessage): Rejection | undefined {
  const { db, hubEvents } = context;
  const slot = channelSlotOf(message.data);
  if (!slot) return invalid("message is of no channel");
  const activeAt = channelsActiveAt(db);
  if (activeAt === undefined || context.nowSecs < activeAt)
    return invalid("channels are not part of this network's protocol yet");
  const before = findSlot(db, slot);
  const displaced = before?.message ? decodeStored(before.message) : undefined;
  if (displaced?.data.fid === message.data.fid && Buffer.compare(displaced.hash, message.hash) === 0)
    return DUPLICATE;
  const refusal = channelRefusal(message.data, viewOfChannel(db, slot.channelId));
  if (refusal !== undefined) return invalid(refusal);
  takeSlot(context, slot, message, (before?.seqnum ?? 0) + 1);
  if (displaced) hubEvents.removed("displaced", displaced);
  hubEvents.merged(message);
  return undefined;
}

/**
 * Records the claim of a verification that this node decided by itself. Verifications from before channels existed do not
 * count for owners.
 */
export function claimByMerge(context: MergeContext, message: SignedMessage): void {
  const activeAt = channelsActiveAt(context.db);
  if (activeAt === undefined || toUnixSecs(message.data.timestamp) < activeAt) return;
  applyOwnerClaim(context, message, { seqnum: nextClaim(context, message), decidedAt: context.nowSecs });
}

function nextClaim({ db }: MergeContext, { data, hash }: SignedMessage): number {
  const { slot: address } = slotOf({ data, hash });
  return (seqnumOfClaim(db, data.fid, address) ?? 0) + 1;
}

/** Returns the state that decides whether messages of a channel are admitted, from the index. */
export function viewOfChannel(db: IndexDatabase, channelId: Uint8Array): ChannelView {
  const channel = findRegistration(db, channelId);
  const { moderators, memberSlots, moderationSlots } = countsOfChannel(db, channelId);
  return {
    isRegistered: channel !== undefined,
    ownerFid: channel ? fidOfOwner(db, channel.ownerAddress) : 0,
    membershipMode: modesOf(settingsOf(db, channelId)).membershipMode,
    moderators,
    memberSlots,
    moderationSlots,
    memberState: (fid) => memberStateOf(db, channelId, fid),
    hasSlot: ({ kind, target }) => findSlot(db, { channelId, kind, target }) !== undefined,
  };
}

/** Returns the state of an fid's slot in a channel. */
export function memberStateOf(db: IndexDatabase, channelId: Uint8Array, fid: number): MemberState {
  const slot = findSlot(db, { channelId, kind: ChannelSlotKind.Member, target: memberTarget(fid) });
  return (slot?.state ?? MemberState.None) as MemberState;
}
