import {
  ChannelMemberAction as Action,
  CastingMode,
  type ChannelMemberBody,
  ChannelModerateAction,
  ChannelUpdateBody,
  MembershipMode,
  type MessageData,
  MessageType,
} from "../wire/generated/message.ts";

/** The kinds of slots of a channel, by the type of the messages that compete for them. */
export const ChannelSlotKind = {
  Settings: MessageType.MESSAGE_TYPE_CHANNEL_UPDATE,
  Member: MessageType.MESSAGE_TYPE_CHANNEL_MEMBER,
  Pin: MessageType.MESSAGE_TYPE_CHANNEL_PIN,
  Moderation: MessageType.MESSAGE_TYPE_CHANNEL_MODERATE,
} as const;

export type ChannelSlotKind = (typeof ChannelSlotKind)[keyof typeof ChannelSlotKind];

/** The states of a member's slot, numbered as in the reference node's responses. */
export const MemberState = { None: 0, Member: 1, Moderator: 2, Removed: 3, Banned: 4 } as const;

export type MemberState = (typeof MemberState)[keyof typeof MemberState];

/**
 * The states of the other slots. A moderated cast is hidden while its slot is `On`, and a channel has a pin while its slot
 * is `On`.
 */
export const SlotState = { On: 1, Off: 2 } as const;

/** Maximum numbers of slots of a channel. A slot is never freed. */
export const MAX_MEMBER_SLOTS = 8192;
export const MAX_MODERATION_SLOTS = 16_384;
export const MAX_MODERATORS = 10;

export const CHANNEL_ID_BYTES = 32;

/**
 * The slot that a message of a channel takes, with the state that it sets. A slot contains the last message that shard 0
 * merged.
 */
export interface ChannelSlot {
  readonly channelId: Uint8Array;
  readonly kind: ChannelSlotKind;
  /** The fid of a member in 8 bytes, the hash of a moderated cast, or empty. */
  readonly target: Uint8Array;
  /** 0 for slots other than a member's. */
  readonly targetFid: number;
  readonly state: number;
  /** The settings as a `ChannelUpdateBody`, or the pinned cast. */
  readonly detail: Uint8Array | null;
}

const NO_TARGET = new Uint8Array();

export function isChannelMessage({ body }: Pick<MessageData, "body">): boolean {
  switch (body?.$case) {
    case "channelUpdateBody":
    case "channelMemberBody":
    case "channelPinBody":
    case "channelModerateBody":
      return true;
    default:
      return false;
  }
}

/** Returns the slot of a valid message; undefined for a message that does not concern a channel. */
export function channelSlotOf({ body }: Pick<MessageData, "body">): ChannelSlot | undefined {
  switch (body?.$case) {
    case "channelUpdateBody": {
      const detail = ChannelUpdateBody.encode(body.value).finish();
      return { ...slot(body.value, ChannelSlotKind.Settings), state: SlotState.On, detail };
    }
    case "channelMemberBody": {
      const { fid } = body.value;
      return { ...memberSlot(body.value), targetFid: fid, state: stateAfter(body.value.action) };
    }
    case "channelPinBody": {
      const { castHash } = body.value;
      const isPinned = castHash.length > 0;
      const state = isPinned ? SlotState.On : SlotState.Off;
      return { ...slot(body.value, ChannelSlotKind.Pin), state, detail: isPinned ? castHash : null };
    }
    case "channelModerateBody": {
      const { castHash: target, action } = body.value;
      const isHidden = action === ChannelModerateAction.CHANNEL_MODERATE_ACTION_HIDE;
      const state = isHidden ? SlotState.On : SlotState.Off;
      return { ...slot(body.value, ChannelSlotKind.Moderation), target, state };
    }
    default:
      return undefined;
  }
}

function slot({ channelId }: { readonly channelId: Uint8Array }, kind: ChannelSlotKind) {
  return { channelId, kind, target: NO_TARGET, targetFid: 0, detail: null };
}

function memberSlot(body: Pick<ChannelMemberBody, "channelId" | "fid">) {
  return { ...slot(body, ChannelSlotKind.Member), target: memberTarget(body.fid) };
}

/** Returns the target of a member's slot. Targets sort by fid. */
export function memberTarget(fid: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(fid));
  return bytes;
}

/** Returns the state of a member after a merged action. */
export function stateAfter(action: Action): MemberState {
  switch (action) {
    case Action.CHANNEL_MEMBER_ACTION_ADD_MEMBER:
    case Action.CHANNEL_MEMBER_ACTION_REMOVE_MODERATOR:
      return MemberState.Member;
    case Action.CHANNEL_MEMBER_ACTION_ADD_MODERATOR:
      return MemberState.Moderator;
    case Action.CHANNEL_MEMBER_ACTION_REMOVE_MEMBER:
    case Action.CHANNEL_MEMBER_ACTION_UNBAN:
      return MemberState.Removed;
    case Action.CHANNEL_MEMBER_ACTION_BAN:
      return MemberState.Banned;
    case Action.CHANNEL_MEMBER_ACTION_NONE:
      return MemberState.None;
  }
}

/** The modes of a channel. Absent ones are the most restrictive. */
export interface ChannelModes {
  readonly castingMode: CastingMode;
  readonly membershipMode: MembershipMode;
}

/**
 * Returns the modes of a channel.
 *
 * @param update the settings of the channel; undefined for a channel without any.
 */
export function modesOf(
  update: Pick<ChannelUpdateBody, "castingMode" | "membershipMode"> | undefined,
): ChannelModes {
  return {
    castingMode: update?.castingMode || CastingMode.CASTING_MODE_MEMBERS_ONLY,
    membershipMode: update?.membershipMode || MembershipMode.MEMBERSHIP_MODE_APPROVAL,
  };
}
