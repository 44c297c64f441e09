import { Type } from "@sinclair/typebox";
import { mapOk } from "../../../lib/result.ts";
import { MessageType } from "../../../protocol/wire/generated/message.ts";
import { composeChannelFollow } from "../../../writes/compose/channel-follow.ts";
import { channelLookups } from "../../../writes/compose/index-lookups.ts";
import { type ComposeRequest, managedWrite, signerBody } from "./managed-write.ts";

const FollowRequest = signerBody({
  channel_id: Type.String({ description: "Id, URL, or the id of the protocol in hex" }),
});

const composeOf =
  (type: MessageType) =>
  ({ db, fields }: ComposeRequest) =>
    mapOk(composeChannelFollow(channelLookups(db), fields), (value) => [
      { type, body: { $case: "reactionBody" as const, value } },
    ]);

const IS_A_LIKE =
  "A follow is a like of the URI of the channel's token. 501 while the network has no registrar of channels.";

export const channelWriteOperations = [
  ...managedWrite({
    id: "followChannel",
    method: "POST",
    path: "/channel/follow",
    tag: "Channels",
    summary: "Follow a registered channel",
    description: `${IS_A_LIKE} A follow that is there already makes no message.`,
    body: FollowRequest,
    errors: ["notFound"],
    type: MessageType.MESSAGE_TYPE_REACTION_ADD,
    compose: composeOf(MessageType.MESSAGE_TYPE_REACTION_ADD),
    present: "the channel is followed",
  }),
  ...managedWrite({
    id: "unfollowChannel",
    method: "DELETE",
    path: "/channel/follow",
    tag: "Channels",
    summary: "Unfollow a registered channel",
    description: `${IS_A_LIKE} Without a follow there is no message.`,
    body: FollowRequest,
    errors: ["notFound"],
    type: MessageType.MESSAGE_TYPE_REACTION_REMOVE,
    compose: composeOf(MessageType.MESSAGE_TYPE_REACTION_REMOVE),
    present: "the channel is no longer followed",
  }),
];
