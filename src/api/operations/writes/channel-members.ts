import { Type } from "@sinclair/typebox";
import { ChannelMemberAction as Action, MessageType } from "../../../protocol/wire/generated/message.ts";
import type { ChannelAct, Composed } from "../../../writes/compose/channel-act.ts";
import {
  composeInvite,
  composeInviteResponse,
  composeMemberAct,
  composeRemoval,
} from "../../../writes/compose/channel-members.ts";
import { channelActLookups } from "../../../writes/compose/index-lookups.ts";
import { type ComposeRequest, doneInChannel, managedWrite, signerBody } from "./managed-write.ts";

export const ChannelName = Type.String({ description: "Id, URL, or the id of the protocol in hex" });

export const NEEDS_CHAIN =
  "The network takes the message from keys on chain only: 403 `signer_not_on_chain` for a gasless one. What it would refuse is refused before, with its reason.";

/** Adapts a function for writes in channels to compose a write. */
export const inChannel =
  (compose: (act: ChannelAct) => Composed) =>
  ({ db, fields, fid, nowSecs, isStale }: ComposeRequest) =>
    compose({ lookups: channelActLookups(db, nowSecs), fields, fid, isStale });

const Role = Type.Union([Type.Literal("member"), Type.Literal("moderator")]);
const target = { channel_id: ChannelName, fid: Type.Integer({ description: "The user" }) };

const shared = {
  tag: "Channels",
  errors: ["notFound"],
  type: MessageType.MESSAGE_TYPE_CHANNEL_MEMBER,
} as const;

export const channelMemberWriteOperations = [
  ...managedWrite({
    ...shared,
    id: "inviteChannelMember",
    method: "POST",
    path: "/channel/member/invite",
    summary: "Make a user a member or moderator of a channel",
    description: `It takes effect at once: the protocol has no invitations. ${NEEDS_CHAIN}`,
    body: signerBody({ ...target, role: Role }),
    compose: inChannel(composeInvite),
    present: doneInChannel("the user has the role now; the protocol has no invitation to accept"),
  }),
  ...managedWrite({
    ...shared,
    id: "respondToChannelInvite",
    method: "PUT",
    path: "/channel/member/invite",
    summary: "Join a channel that is open, or leave one",
    description: `The protocol has no invitations. With \`accept\` the user becomes a member of a channel that is open, without it no member any more; who has the role already makes no message. ${NEEDS_CHAIN}`,
    body: signerBody({ channel_id: ChannelName, role: Role, accept: Type.Boolean() }),
    compose: inChannel(composeInviteResponse),
    present: doneInChannel("the response is in effect"),
  }),
  ...managedWrite({
    ...shared,
    id: "removeChannelMember",
    method: "DELETE",
    path: "/channel/member",
    summary: "End a user's role in a channel",
    description: `A moderator becomes a member; with \`drop_membership\` not even that, by a second message. ${NEEDS_CHAIN}`,
    body: signerBody({ ...target, role: Role, drop_membership: Type.Optional(Type.Boolean()) }),
    compose: inChannel(composeRemoval),
    present: doneInChannel("the user no longer has the role"),
  }),
  ...managedWrite({
    ...shared,
    id: "banFromChannel",
    isOwn: true,
    method: "POST",
    path: "/channel/ban",
    summary: "Ban a user from a channel",
    description: `Casts of the user are no longer in lists of the channel. ${NEEDS_CHAIN}`,
    body: signerBody(target),
    compose: inChannel((act) => composeMemberAct(act, Action.CHANNEL_MEMBER_ACTION_BAN)),
    present: doneInChannel("the user is banned from the channel"),
  }),
  ...managedWrite({
    ...shared,
    id: "unbanFromChannel",
    isOwn: true,
    method: "DELETE",
    path: "/channel/ban",
    summary: "End a user's ban from a channel",
    description: `The user is then no member. ${NEEDS_CHAIN}`,
    body: signerBody(target),
    compose: inChannel((act) => composeMemberAct(act, Action.CHANNEL_MEMBER_ACTION_UNBAN)),
    present: doneInChannel("the user is no longer banned from the channel"),
  }),
];
