import { channelsActiveAt } from "../../db/index/channels/follows.ts";
import { fidOfOwner } from "../../db/index/channels/owner-claims.ts";
import { registrarOfIndex } from "../../db/index/channels/registrar.ts";
import {
  applyRegistration,
  channelsOfOwner,
  findRegistration,
  type StoredRegistration,
  settingsIn,
} from "../../db/index/channels/registrations.ts";
import type { StoredSlot } from "../../db/index/channels/slots.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { authorOfCast } from "../../db/index/project/casts.ts";
import type { ChangedRole, ChannelChange } from "../../protocol/channels/change.ts";
import { followedChannelOf } from "../../protocol/channels/follow-uri.ts";
import { channelIdOfEvent } from "../../protocol/channels/registrations.ts";
import { type ChannelSlot, MemberState, modesOf, SlotState } from "../../protocol/channels/slots.ts";
import type { ChannelEventKind } from "../../protocol/event-kind.ts";
import type { SignedMessage } from "../../protocol/message/signed-message.ts";
import { toUnixSecs } from "../../protocol/time.ts";
import {
  ChannelMemberAction as Action,
  type ChannelUpdateBody,
  type MessageData,
  MessageType,
  ReactionType,
} from "../../protocol/wire/generated/message.ts";
import type { OnChainEvent } from "../../protocol/wire/generated/on-chain.ts";
import type { MergeContext } from "./merge.ts";

/**
 * Determines which changes of channels are events. Each is tracked by the operation that makes it, and written with the
 * operation's other events.
 */

type Changes = Pick<MergeContext, "db" | "changes">;
type Details = Omit<ChannelChange, "channelId" | "id">;

const MEMBER_KINDS: Readonly<Partial<Record<Action, ChannelEventKind>>> = {
  [Action.CHANNEL_MEMBER_ACTION_ADD_MEMBER]: "channel.member.added",
  [Action.CHANNEL_MEMBER_ACTION_REMOVE_MEMBER]: "channel.member.removed",
  [Action.CHANNEL_MEMBER_ACTION_BAN]: "channel.member.banned",
  [Action.CHANNEL_MEMBER_ACTION_UNBAN]: "channel.member.unbanned",
  [Action.CHANNEL_MEMBER_ACTION_ADD_MODERATOR]: "channel.moderator.added",
  [Action.CHANNEL_MEMBER_ACTION_REMOVE_MODERATOR]: "channel.moderator.removed",
};

/** Tracks that a message took a slot of a registered channel, if that changed the slot's content. */
export function trackSlot(
  { db, changes }: Changes,
  channel: StoredRegistration,
  taken: {
    readonly slot: ChannelSlot;
    readonly message: SignedMessage;
    readonly seqnum: number;
    readonly before: StoredSlot | undefined;
  },
): void {
  if (!changes.isTracking) return;
  const { slot, message, seqnum } = taken;
  const details = detailsOf(db, channel, taken);
  if (!details) return;
  const common = { actorFid: message.data.fid, timestamp: toUnixSecs(message.data.timestamp) };
  // The message does not identify it: shard 0 merges the same one again after another message has held the slot.
  const reference = `${seqnum}:${slot.kind}:${slot.target.toHex()}`;
  note({ changes }, channel, { ...details, ...common }, reference);
}

function detailsOf(
  db: IndexDatabase,
  channel: StoredRegistration,
  { slot, message, before }: Pick<Parameters<typeof trackSlot>[2], "slot" | "message" | "before">,
): Omit<Details, "actorFid" | "timestamp"> | undefined {
  const { body } = message.data;
  switch (body?.$case) {
    case "channelUpdateBody": {
      const changed = changedSettings(channel.key, before && settingsIn(before), body.value);
      const fid = fidOfOwner(db, channel.ownerAddress) || null;
      return changed.length === 0 ? undefined : { kind: "channel.updated", fid, changed };
    }
    case "channelMemberBody": {
      const kind = MEMBER_KINDS[body.value.action];
      if (!kind || before?.state === slot.state) return undefined;
      const [role, previousRole] = [roleIn(slot.state), roleIn(before?.state)];
      return { kind, fid: body.value.fid, role, previousRole };
    }
    case "channelPinBody": {
      const pinned = slot.detail;
      const [was, is] = [before?.detail?.toHex(), pinned?.toHex()];
      if (was === is) return undefined;
      const kind = pinned ? "channel.pinned" : "channel.unpinned";
      return { kind, ...aboutCast(db, pinned ?? before?.detail ?? slot.target) };
    }
    case "channelModerateBody": {
      const isHidden = slot.state === SlotState.On;
      if ((before?.state === SlotState.On) === isHidden) return undefined;
      return { kind: "cast.moderated", isHidden, ...aboutCast(db, slot.target) };
    }
    default:
      return undefined;
  }
}

function aboutCast(db: IndexDatabase, hash: Uint8Array) {
  return { fid: authorOfCast(db, hash) ?? null, castHash: hexOf(hash) };
}

function roleIn(state: number | undefined): ChangedRole {
  if (state === MemberState.Moderator) return "moderator";
  return state === MemberState.Member ? "member" : null;
}

function changedSettings(
  key: string,
  before: ChannelUpdateBody | undefined,
  after: ChannelUpdateBody,
): readonly string[] {
  const [old, next] = [shownSettings(key, before), shownSettings(key, after)];
  return Object.keys(next).filter((name) => old[name] !== next[name]);
}

function shownSettings(
  key: string,
  settings: ChannelUpdateBody | undefined,
): Readonly<Record<string, unknown>> {
  const { castingMode, membershipMode } = modesOf(settings);
  return {
    name: settings?.name ?? key,
    description: settings?.description,
    image_url: settings?.imageUrl,
    header: settings?.header,
    rules: settings?.rules,
    casting_mode: castingMode,
    membership_mode: membershipMode,
  };
}

/** Applies an event of the registry to its channel, and tracks what it changed. */
export function applyRegistryEvent({ db, changes }: Changes, event: OnChainEvent): void {
  const channelId = channelIdOfEvent(event);
  const before = channelId && findRegistration(db, channelId);
  if (!applyRegistration(db, event) || !changes.isTracking || !channelId) return;
  const after = findRegistration(db, channelId);
  if (!after) return;
  const owner = fidOfOwner(db, after.ownerAddress);
  const common = { fid: owner || null, actorFid: null, timestamp: event.blockTimestamp };
  const { blockNumber, logIndex } = event;
  const reference = `${blockNumber}:${logIndex}`;
  if (!before) {
    note({ changes }, after, { kind: "channel.created", ...common }, reference);
    return;
  }
  const changed: string[] = [];
  if (Buffer.compare(before.ownerAddress, after.ownerAddress) !== 0) changed.push("owner_address");
  if (fidOfOwner(db, before.ownerAddress) !== owner) changed.push("owner");
  if (before.expiry !== after.expiry) changed.push("expires_at");
  if (changed.length > 0)
    note({ changes }, after, { kind: "channel.updated", ...common, changed }, reference);
}

/** Limits the channels per address, which may own thousands; the network's own hints have the same limit. */
const MAX_CHANNELS_OF_CLAIM = 256;

/** Tracks that another fid, or none, now owns the channels of an address. */
export function trackOwner(
  { db, changes }: Changes,
  claim: { readonly address: Uint8Array; readonly message: SignedMessage; readonly seqnum: number },
  before: number,
): void {
  if (!changes.isTracking) return;
  const owner = fidOfOwner(db, claim.address);
  if (owner === before) return;
  const { fid: actorFid, timestamp } = claim.message.data;
  const details = {
    kind: "channel.updated" as const,
    fid: owner || null,
    actorFid,
    timestamp: toUnixSecs(timestamp),
    changed: ["owner"],
  };
  for (const channel of channelsOfOwner(db, claim.address, MAX_CHANNELS_OF_CLAIM))
    note({ changes }, channel, details, `owner:${claim.address.toHex()}:${claim.seqnum}`);
}

/** Returns the change if a message starts or ends a follow of a registered channel; otherwise undefined. */
export function followChange(
  db: IndexDatabase,
  { data }: SignedMessage,
  kind: "channel.follow.created" | "channel.follow.deleted",
  timestamp: number,
): ChannelChange | undefined {
  const channelId = followedBy(db, data);
  const channel = channelId && findRegistration(db, channelId);
  if (!channel) return undefined;
  const { fid } = data;
  return { kind, channelId: hexOf(channel.channelId), id: channel.id, fid, actorFid: fid, timestamp };
}

function followedBy(db: IndexDatabase, { type, body, timestamp }: MessageData): Uint8Array | undefined {
  if (type !== MessageType.MESSAGE_TYPE_REACTION_ADD || body?.$case !== "reactionBody") return undefined;
  if (body.value.type !== ReactionType.REACTION_TYPE_LIKE) return undefined;
  const { target } = body.value;
  // Rejects most reactions cheaply.
  if (target?.$case !== "targetUrl" || !target.value.startsWith("eip155:")) return undefined;
  const since = channelsActiveAt(db);
  if (since === undefined || toUnixSecs(timestamp) < since) return undefined;
  return followedChannelOf(registrarOfIndex(db), target.value);
}

function note(
  { changes }: Pick<Changes, "changes">,
  { channelId, id }: Pick<StoredRegistration, "channelId" | "id">,
  details: Details,
  reference: string,
): void {
  const change = { ...details, channelId: hexOf(channelId), id };
  changes.trackChannel({ change, reference: `${change.channelId}:${reference}` });
}

function hexOf(bytes: Uint8Array): `0x${string}` {
  return `0x${bytes.toHex()}`;
}
