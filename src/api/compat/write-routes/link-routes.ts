import { Type } from "@sinclair/typebox";
import { type AnyElysia, Elysia } from "elysia";
import { isRegistered } from "../../../db/index/user-facts.ts";
import { aliasOf } from "../../../http/operation.ts";
import { mapOk, type Result } from "../../../lib/result.ts";
import { ownValue } from "../../../management/fields.ts";
import type { Refusal } from "../../../management/refusal.ts";
import { MessageType } from "../../../protocol/wire/generated/message.ts";
import { type LinkType, linkBody, readTargetFid, readTargetFids } from "../../../writes/compose/link.ts";
import type { MessageOutcome } from "../../../writes/outcome.ts";
import type { UnsignedBody } from "../../../writes/rpc.ts";
import { closed, Fid } from "../../shared/schemas.ts";
import {
  type ComposeRequest,
  executeManagedWrite,
  type ManagedWriteDeps,
  type WriteResult,
} from "./managed-write.ts";
import { done, OperationResponse, signerBody, writeOperation } from "./schemas.ts";
import type { WriteContext } from "./write.ts";

const FollowRequest = signerBody({ target_fids: Type.Array(Fid, { minItems: 1, maxItems: 100 }) });

const FollowResult = Type.Object(
  {
    success: Type.Boolean({ description: "Whether all succeeded" }),
    details: Type.Array(
      Type.Object(
        {
          success: Type.Boolean(),
          target_fid: Fid,
          hash: Type.String({ description: "The message's hash; empty where there is none" }),
        },
        closed,
      ),
      { description: "In the order of the request, each fid once" },
    ),
  },
  { ...closed, $id: "FollowResult" },
);

const BlockRequest = signerBody({ blocked_fid: Fid });

/** Follows and blocks, and their removal, by managed signers. */
export function publishLinkRoutes(deps: ManagedWriteDeps): AnyElysia {
  const follow = (type: MessageType) => ({
    types: [type],
    compose: (request: ComposeRequest) => composeFollows(type, request),
  });
  const block = (type: MessageType) => ({
    types: [type],
    compose: (request: ComposeRequest) => composeLink(type, "block", "blocked_fid", request),
  });
  const add = async (context: WriteContext) =>
    presentFollows(await executeManagedWrite(context, deps, follow(MessageType.MESSAGE_TYPE_LINK_ADD)));
  const addHook = writeOperation({
    operationId: "followUser",
    summary: "Follow users",
    description:
      "Users who are followed already make no message. The own fid and unregistered ones fail by themselves.",
    tags: ["Follows"],
    body: FollowRequest,
    response: FollowResult,
  });
  const remove = async (context: WriteContext) =>
    presentFollows(await executeManagedWrite(context, deps, follow(MessageType.MESSAGE_TYPE_LINK_REMOVE)));
  const removeHook = writeOperation({
    operationId: "unfollowUser",
    summary: "Unfollow users",
    description: "Users who are not followed make no message.",
    tags: ["Follows"],
    body: FollowRequest,
    response: FollowResult,
  });
  return new Elysia({ name: "publish-links" })
    .post("/user/follow", add, addHook)
    .delete("/user/follow", remove, removeHook)
    .post("/follow", add, aliasOf("/user/follow", addHook))
    .delete("/follow", remove, aliasOf("/user/follow", removeHook))
    .post(
      "/block",
      async (context) => {
        await executeManagedWrite(context, deps, block(MessageType.MESSAGE_TYPE_LINK_ADD));
        return done("the user is blocked");
      },
      writeOperation({
        operationId: "publishBlock",
        summary: "Block a user",
        description: "A block is public: it is a message of the protocol.",
        tags: ["Blocks"],
        body: BlockRequest,
        response: OperationResponse,
        errors: ["notFound"],
      }),
    )
    .delete(
      "/block",
      async (context) => {
        await executeManagedWrite(context, deps, block(MessageType.MESSAGE_TYPE_LINK_REMOVE));
        return done("the user is not blocked");
      },
      writeOperation({
        operationId: "deleteBlock",
        summary: "Unblock a user",
        description: "A user who is not blocked makes no message.",
        tags: ["Blocks"],
        body: BlockRequest,
        response: OperationResponse,
        errors: ["notFound"],
      }),
    );
}

function composeFollows(
  type: MessageType,
  { db, fields, fid }: ComposeRequest,
): Result<readonly (UnsignedBody | null)[], Refusal> {
  return mapOk(readTargetFids(ownValue(fields, "target_fids")), (targets) =>
    targets.map((target) =>
      target !== fid && isRegistered(db, target) ? linkMessage(type, "follow", target) : null,
    ),
  );
}

/** The outcomes are in the order of the fids, each once. */
function presentFollows({ fields, outcomes }: WriteResult) {
  const targets = readTargetFids(ownValue(fields, "target_fids"));
  const details = (targets.ok ? targets.value : []).map((target, at) => presentFollow(target, outcomes[at]));
  return { success: details.every(({ success }) => success), details };
}

function presentFollow(target: number, outcome: MessageOutcome | undefined) {
  const success = outcome !== undefined && outcome.state !== "refused" && outcome.state !== "skipped";
  return { success, target_fid: target, hash: success && outcome.hash !== "" ? `0x${outcome.hash}` : "" };
}

/** Composes the link to the user in a field of the body, or its removal. */
export function composeLink(
  type: MessageType,
  linkType: LinkType,
  field: string,
  { db, fields, fid }: ComposeRequest,
): Result<readonly UnsignedBody[], Refusal> {
  const own = { ownFid: fid, isRegistered: (other: number) => isRegistered(db, other) };
  return mapOk(readTargetFid(ownValue(fields, field), field, own), (target) => [
    linkMessage(type, linkType, target),
  ]);
}

function linkMessage(type: MessageType, linkType: LinkType, target: number): UnsignedBody {
  return { type, body: { $case: "linkBody", value: linkBody(linkType, target) } };
}
