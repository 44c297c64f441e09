import { Type } from "@sinclair/typebox";
import { mapOk } from "../../../lib/result.ts";
import { MessageType } from "../../../protocol/wire/generated/message.ts";
import { castLookups } from "../../../writes/compose/index-lookups.ts";
import { composeReaction } from "../../../writes/compose/reaction.ts";
import { type ComposeRequest, managedWrite, signerBody } from "./managed-write.ts";

const ReactionRequest = signerBody({
  reaction_type: Type.Union([Type.Literal("like"), Type.Literal("recast")]),
  target: Type.String({ description: "Hash or URL of a cast, or another absolute URL" }),
  target_author_fid: Type.Optional(
    Type.Integer({ description: "Needed for a cast that this node does not have" }),
  ),
});

const compositionOf = (type: MessageType) => ({
  type,
  compose: ({ db, fields }: ComposeRequest) =>
    mapOk(composeReaction(castLookups(db), fields), (value) => [
      { type, body: { $case: "reactionBody" as const, value } },
    ]),
});

/** How to compose the messages of these writes. */
export const reactionCompositions = {
  publishReaction: compositionOf(MessageType.MESSAGE_TYPE_REACTION_ADD),
  deleteReaction: compositionOf(MessageType.MESSAGE_TYPE_REACTION_REMOVE),
};

export const reactionWriteOperations = [
  ...managedWrite({
    id: "publishReaction",
    method: "POST",
    path: "/reaction",
    tag: "Reactions",
    summary: "Like or recast",
    description: "A reaction that is there already makes no message.",
    body: ReactionRequest,
    errors: ["notFound"],
    ...reactionCompositions.publishReaction,
    present: "the reaction is published",
  }),
  ...managedWrite({
    id: "deleteReaction",
    method: "DELETE",
    path: "/reaction",
    tag: "Reactions",
    summary: "Remove a like or recast",
    description: "A reaction that is not there makes no message.",
    body: ReactionRequest,
    errors: ["notFound"],
    ...reactionCompositions.deleteReaction,
    present: "the reaction is removed",
  }),
];
