import {
  ChannelMemberAction as Action,
  type ChannelMemberBody,
  MembershipMode,
  type MessageData,
} from "../wire/generated/message.ts";
import {
  type ChannelSlot,
  ChannelSlotKind,
  channelSlotOf,
  MAX_MEMBER_SLOTS,
  MAX_MODERATION_SLOTS,
  MAX_MODERATORS,
  MemberState,
} from "./slots.ts";

/** State of a channel that decides whether its messages are admitted. */
export interface ChannelView {
  readonly isRegistered: boolean;
  /** The fid with the newest verification of the owner's address; 0 while the channel is parked. */
  readonly ownerFid: number;
  readonly membershipMode: MembershipMode;
  /** Number of live moderators. */
  readonly moderators: number;
  readonly memberSlots: number;
  readonly moderationSlots: number;
  memberState(fid: number): MemberState;
  hasSlot(slot: Pick<ChannelSlot, "kind" | "target">): boolean;
}

type Role = "owner" | "moderator" | "member" | "other";

/** Reason for refusing a message whose author lacks the required role. */
export const UNAUTHORIZED = "unauthorized channel action";
const WRONG_STATE = "invalid channel target state";

/**
 * Returns why a valid message of a channel is not admitted, in the reference node's words; undefined if it is. Only the node
 * that decides a message calls this, because the owners known to a following node may differ from those at the time of the
 * decision.
 */
export function channelRefusal(
  { fid: author, body }: Pick<MessageData, "fid" | "body">,
  view: ChannelView,
): string | undefined {
  if (!view.isRegistered) return "unknown channel";
  if (view.ownerFid === 0 && !isSelfLeave(author, body)) return "channel is parked";
  const role = roleOf(author, view);
  const slot = channelSlotOf({ body });
  switch (body?.$case) {
    case "channelUpdateBody":
      return role === "owner" ? undefined : UNAUTHORIZED;
    case "channelPinBody":
      return isModerating(role) ? undefined : UNAUTHORIZED;
    case "channelModerateBody":
      return isModerating(role) ? capRefusal(slot, view) : UNAUTHORIZED;
    case "channelMemberBody":
      return memberRefusal({ author, role, body: body.value, view }) ?? capRefusal(slot, view);
    default:
      return "message is of no channel";
  }
}

/** Reports whether a member leaves on its own account, which is allowed even while the channel is parked. */
function isSelfLeave(author: number, body: MessageData["body"]): boolean {
  if (body?.$case !== "channelMemberBody") return false;
  return body.value.fid === author && body.value.action === Action.CHANNEL_MEMBER_ACTION_REMOVE_MEMBER;
}

function roleOf(fid: number, { ownerFid, memberState }: ChannelView): Role {
  if (ownerFid !== 0 && fid === ownerFid) return "owner";
  switch (memberState(fid)) {
    case MemberState.Moderator:
      return "moderator";
    case MemberState.Member:
      return "member";
    default:
      return "other";
  }
}

function isModerating(role: Role): boolean {
  return role === "owner" || role === "moderator";
}

interface MemberAct {
  readonly author: number;
  readonly role: Role;
  readonly body: ChannelMemberBody;
  readonly view: ChannelView;
}

function memberRefusal({ author, role, body, view }: MemberAct): string | undefined {
  const { fid: target, action } = body;
  const state = view.memberState(target);
  const isSelf = author === target;
  if (action === Action.CHANNEL_MEMBER_ACTION_BAN && target === view.ownerFid) return UNAUTHORIZED;
  if (state === MemberState.Banned && action !== Action.CHANNEL_MEMBER_ACTION_UNBAN)
    return "channel member is banned";
  const isOpen = view.membershipMode === MembershipMode.MEMBERSHIP_MODE_OPEN;
  const may = (isAllowed: boolean) => (isAllowed ? undefined : UNAUTHORIZED);
  switch (action) {
    case Action.CHANNEL_MEMBER_ACTION_ADD_MEMBER:
      if (state !== MemberState.None && state !== MemberState.Removed) return WRONG_STATE;
      return may(isModerating(role) || (isSelf && isOpen));
    case Action.CHANNEL_MEMBER_ACTION_REMOVE_MEMBER:
      if (state === MemberState.Moderator) return may(isSelf);
      return state === MemberState.Member ? may(isModerating(role) || isSelf) : WRONG_STATE;
    case Action.CHANNEL_MEMBER_ACTION_ADD_MODERATOR:
      if (state === MemberState.Moderator) return WRONG_STATE;
      return (
        may(role === "owner") ??
        (view.moderators >= MAX_MODERATORS ? "too many channel moderators" : undefined)
      );
    case Action.CHANNEL_MEMBER_ACTION_REMOVE_MODERATOR:
      return state === MemberState.Moderator ? may(role === "owner") : WRONG_STATE;
    case Action.CHANNEL_MEMBER_ACTION_BAN:
      return may(state === MemberState.Moderator ? role === "owner" : isModerating(role));
    case Action.CHANNEL_MEMBER_ACTION_UNBAN:
      return state === MemberState.Banned ? may(isModerating(role)) : WRONG_STATE;
    case Action.CHANNEL_MEMBER_ACTION_NONE:
      return WRONG_STATE;
  }
}

/**
 * Returns a refusal if a channel has no room. A slot is never freed, so the limit only concerns messages that take a new
 * one.
 */
function capRefusal(slot: ChannelSlot | undefined, view: ChannelView): string | undefined {
  if (!slot || view.hasSlot(slot)) return undefined;
  const isFull =
    slot.kind === ChannelSlotKind.Member
      ? view.memberSlots >= MAX_MEMBER_SLOTS
      : view.moderationSlots >= MAX_MODERATION_SLOTS;
  return isFull ? "channel slot limit reached" : undefined;
}
