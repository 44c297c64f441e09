import { ok, type Result } from "../../lib/result.ts";
import { type JsonObject, ownValue } from "../../management/fields.ts";
import { badField, type Refusal } from "../../management/refusal.ts";
import type { ChannelView } from "../../protocol/channels/authority.ts";
import { MemberState } from "../../protocol/channels/slots.ts";
import {
  ChannelMemberAction as Action,
  MembershipMode,
  MessageType,
} from "../../protocol/wire/generated/message.ts";
import { refuse } from "../../signers/refusal.ts";
import { admitted, type ChannelAct, type Composed, findChannel } from "./channel-act.ts";
import { readFid } from "./fields.ts";

const ROLES = {
  member: Action.CHANNEL_MEMBER_ACTION_ADD_MEMBER,
  moderator: Action.CHANNEL_MEMBER_ACTION_ADD_MODERATOR,
};

/** Makes `fid` a member or moderator. It takes effect at once, because the protocol has no invitations. */
export function composeInvite(act: ChannelAct): Composed {
  const role = readRole(act.fields);
  if (!role.ok) return role;
  return composeMemberAct(act, ROLES[role.value]);
}

/** Ends the role of `fid`. A moderator becomes a member; with `drop_membership`, a non-member. */
export function composeRemoval(act: ChannelAct): Composed {
  const role = readRole(act.fields);
  if (!role.ok) return role;
  if (role.value === "member") return composeMemberAct(act, Action.CHANNEL_MEMBER_ACTION_REMOVE_MEMBER);
  const drops = ownValue(act.fields, "drop_membership") ?? false;
  if (typeof drops !== "boolean") return badField("drop_membership must be true or false");
  const first = composeMemberAct(act, Action.CHANNEL_MEMBER_ACTION_REMOVE_MODERATOR);
  if (!first.ok || !drops) return first;
  // The network decides them one after the other: a user who may end the first role may end the second.
  const rest = first.value.map(({ body, ...one }) => ({
    ...one,
    body:
      body.$case === "channelMemberBody"
        ? { ...body, value: { ...body.value, action: Action.CHANNEL_MEMBER_ACTION_REMOVE_MEMBER } }
        : body,
  }));
  return ok([...first.value, ...rest]);
}

/** Lets the user join an open channel, or leave one. Nothing changes if the user already has the role, or never had one. */
export function composeInviteResponse(act: ChannelAct): Composed {
  const { fields, fid } = act;
  const role = readRole(fields);
  if (!role.ok) return role;
  const accepts = ownValue(fields, "accept");
  if (typeof accepts !== "boolean") return badField("accept must be true or false");
  const channel = findChannel(act);
  if (!channel.ok) return channel;
  const { channelId, view } = channel.value;
  const has = roleOf(view, fid);
  if (!accepts) {
    if (has === undefined) return ok([]);
    return memberBody(act, channelId, view, fid, Action.CHANNEL_MEMBER_ACTION_REMOVE_MEMBER);
  }
  if (has === role.value || has === "moderator") return ok([]);
  if (role.value === "moderator") return refuse("conflict", "only the owner makes a user a moderator");
  if (view.membershipMode !== MembershipMode.MEMBERSHIP_MODE_OPEN)
    return refuse("conflict", "the channel is not open: its owner or a moderator adds members");
  return memberBody(act, channelId, view, fid, Action.CHANNEL_MEMBER_ACTION_ADD_MEMBER);
}

/** Acts on the role of `fid`. */
export function composeMemberAct(act: ChannelAct, action: Action): Composed {
  const target = readFid(ownValue(act.fields, "fid"), "fid");
  if (!target.ok) return target;
  const channel = findChannel(act);
  if (!channel.ok) return channel;
  const { channelId, view } = channel.value;
  return memberBody(act, channelId, view, target.value, action);
}

function memberBody(
  act: ChannelAct,
  channelId: Uint8Array,
  view: ChannelView,
  fid: number,
  action: Action,
): Composed {
  const value = { channelId, fid, action };
  return admitted(act, view, {
    type: MessageType.MESSAGE_TYPE_CHANNEL_MEMBER,
    body: { $case: "channelMemberBody", value },
  });
}

function readRole(fields: JsonObject): Result<"member" | "moderator", Refusal> {
  const role = ownValue(fields, "role");
  if (role === "member" || role === "moderator") return ok(role);
  return badField(
    role === "owner"
      ? "role may not be owner: a channel gets another owner by a transfer of its token on chain"
      : "role must be member or moderator",
  );
}

function roleOf(view: ChannelView, fid: number): "member" | "moderator" | undefined {
  const state = view.memberState(fid);
  if (state === MemberState.Moderator) return "moderator";
  return state === MemberState.Member ? "member" : undefined;
}
