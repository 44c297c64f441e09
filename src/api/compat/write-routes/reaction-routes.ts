import { Type } from "@sinclair/typebox";
import { type AnyElysia, Elysia } from "elysia";
import { mapOk } from "../../../lib/result.ts";
import { MessageType } from "../../../protocol/wire/generated/message.ts";
import { castLookups } from "../../../writes/compose/index-lookups.ts";
import { composeReaction } from "../../../writes/compose/reaction.ts";
import { executeManagedWrite, type ManagedWriteDeps } from "./managed-write.ts";
import { done, OperationResponse, signerBody, writeOperation } from "./schemas.ts";

const tags = ["Reactions"];

const ReactionRequest = signerBody({
  reaction_type: Type.Union([Type.Literal("like"), Type.Literal("recast")]),
  target: Type.String({ description: "Hash or URL of a cast, or another absolute URL" }),
  target_author_fid: Type.Optional(
    Type.Integer({ description: "Needed for a cast that this node does not have" }),
  ),
});

/** Likes and recasts, and their removal, by managed signers. */
export function publishReactionRoutes(deps: ManagedWriteDeps): AnyElysia {
  const write = (type: MessageType) => ({
    types: [type],
    compose: ({
      db,
      fields,
    }: {
      readonly db: ManagedWriteDeps["db"];
      readonly fields: Readonly<Record<string, unknown>>;
    }) =>
      mapOk(composeReaction(castLookups(db), fields), (value) => [
        { type, body: { $case: "reactionBody" as const, value } },
      ]),
  });
  return new Elysia({ name: "publish-reactions" })
    .post(
      "/reaction",
      async (context) => {
        await executeManagedWrite(context, deps, write(MessageType.MESSAGE_TYPE_REACTION_ADD));
        return done("the reaction is published");
      },
      writeOperation({
        operationId: "publishReaction",
        summary: "Like or recast",
        description: "A reaction that is there already makes no message.",
        tags,
        body: ReactionRequest,
        response: OperationResponse,
        errors: ["notFound"],
      }),
    )
    .delete(
      "/reaction",
      async (context) => {
        await executeManagedWrite(context, deps, write(MessageType.MESSAGE_TYPE_REACTION_REMOVE));
        return done("the reaction is removed");
      },
      writeOperation({
        operationId: "deleteReaction",
        summary: "Remove a like or recast",
        description: "A reaction that is not there makes no message.",
        tags,
        body: ReactionRequest,
        response: OperationResponse,
        errors: ["notFound"],
      }),
    );
}
