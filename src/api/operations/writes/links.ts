import { Type } from "@sinclair/typebox";
import { isRegistered } from "../../../db/index/project/on-chain.ts";
import { missingScope } from "../../../http/caller.ts";
import { ApiError } from "../../../http/errors.ts";
import { keyCallerOf } from "../../../http/exchange.ts";
import { parseBody, rawBody } from "../../../http/request/body.ts";
import { mapOk, type Result } from "../../../lib/result.ts";
import { ownValue, readObject } from "../../../management/fields.ts";
import type { Refusal } from "../../../management/refusal.ts";
import { moderationEntries } from "../../../moderation/moderation-service.ts";
import { MODERATION_BOUNDS } from "../../../moderation/moderation-store.ts";
import { MessageType } from "../../../protocol/wire/generated/message.ts";
import { nowSecs } from "../../../runtime/clock.ts";
import { readFid } from "../../../writes/compose/fields.ts";
import { type LinkType, linkBody, readTargetFid, readTargetFids } from "../../../writes/compose/link.ts";
import type { MessageOutcome } from "../../../writes/outcome.ts";
import type { UnsignedBody } from "../../../writes/rpc.ts";
import type { ApiDeps } from "../../deps.ts";
import { Fid, object } from "../../dialects/fields.ts";
import type { Call } from "../../op.ts";
import { unwrapOrThrow } from "../../respond.ts";
import {
  actorOf,
  type ComposeRequest,
  done,
  executeWriteBy,
  keyedWrite,
  managedWrite,
  signerBody,
  type WriteResult,
} from "./managed-write.ts";

const FollowRequest = signerBody({ target_fids: Type.Array(Fid, { minItems: 1, maxItems: 100 }) });

const FollowResult = object(
  {
    success: Type.Boolean({ description: "Whether all succeeded" }),
    details: Type.Array(
      object({
        success: Type.Boolean(),
        target_fid: Fid,
        hash: Type.String({ description: "The message's hash; empty where there is none" }),
      }),
      { description: "In the order of the request, each fid once" },
    ),
  },
  { $id: "FollowResult" },
);

const BlockRequest = signerBody({ blocked_fid: Fid });

const MuteRequest = Type.Object({ fid: Fid, muted_fid: Fid });

const MUTE_TEXT =
  "It is private: it counts in reads under API keys of the same owner, and no one else learns of it. Where the operator has chosen " +
  "public mutes, it is a link of the protocol instead, which any approved signer of the owner for `fid` signs, and the key needs the " +
  "scope `write`, too. `message` says which it is.";

const ADD = MessageType.MESSAGE_TYPE_LINK_ADD;
const REMOVE = MessageType.MESSAGE_TYPE_LINK_REMOVE;

const follow = { path: "/user/follow", aliases: ["/follow"], tag: "Follows", body: FollowRequest } as const;
const block = { path: "/block", tag: "Blocks", body: BlockRequest, errors: ["notFound"] } as const;
const mute = {
  path: "/mute",
  tag: "Blocks",
  body: MuteRequest,
  errors: ["notFound"],
  scope: "moderate",
  needsNoSigners: true,
} as const;

const followComposition = (type: MessageType) => ({
  type,
  compose: (request: ComposeRequest) => composeFollows(type, request),
});

/** How to compose the messages of these writes. */
export const linkCompositions = {
  followUser: followComposition(ADD),
  unfollowUser: followComposition(REMOVE),
};

export const linkWriteOperations = [
  ...managedWrite({
    ...follow,
    id: "followUser",
    method: "POST",
    summary: "Follow users",
    description:
      "Users who are followed already make no message. The own fid and unregistered ones fail by themselves.",
    response: FollowResult,
    ...linkCompositions.followUser,
    present: presentFollows,
  }),
  ...managedWrite({
    ...follow,
    id: "unfollowUser",
    method: "DELETE",
    summary: "Unfollow users",
    description: "Users who are not followed make no message.",
    response: FollowResult,
    ...linkCompositions.unfollowUser,
    present: presentFollows,
  }),
  ...managedWrite({
    ...block,
    id: "publishBlock",
    method: "POST",
    summary: "Block a user",
    description: "A block is public: it is a message of the protocol.",
    type: ADD,
    compose: (request) => composeLink(ADD, "block", "blocked_fid", request),
    present: "the user is blocked",
  }),
  ...managedWrite({
    ...block,
    id: "deleteBlock",
    method: "DELETE",
    summary: "Unblock a user",
    description: "A user who is not blocked makes no message.",
    type: REMOVE,
    compose: (request) => composeLink(REMOVE, "block", "blocked_fid", request),
    present: "the user is not blocked",
  }),
  ...keyedWrite({
    ...mute,
    id: "publishMute",
    method: "POST",
    summary: "Mute a user",
    description: `${MUTE_TEXT} At most ${MODERATION_BOUNDS.mutesOfUser} of a user in one app, and ${MODERATION_BOUNDS.mutes} of its users in all; beyond that it is 409.`,
    run: (deps, call) => writeMute(deps, call, ADD, "the user is muted"),
  }),
  ...keyedWrite({
    ...mute,
    id: "deleteMute",
    method: "DELETE",
    summary: "Unmute a user",
    description: MUTE_TEXT,
    run: (deps, call) => writeMute(deps, call, REMOVE, "the user is not muted"),
  }),
];

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

/** The outcomes are in the order of the fids, without duplicates. */
function presentFollows({ fields, outcomes }: WriteResult) {
  const targets = readTargetFids(ownValue(fields, "target_fids"));
  const details = (targets.ok ? targets.value : []).map((target, at) => presentFollow(target, outcomes[at]));
  return { success: details.every(({ success }) => success), details };
}

export function presentFollow(target: number, outcome: MessageOutcome | undefined) {
  const success = outcome !== undefined && outcome.state !== "refused" && outcome.state !== "skipped";
  return { success, target_fid: target, hash: success && outcome.hash !== "" ? `0x${outcome.hash}` : "" };
}

/** Composes the link to the user in a field of the body, or its removal. */
function composeLink(
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

/**
 * Stores a private mute in the owner's app or, if the operator sets that, writes a link of the protocol, which is public. It names a user
 * instead of a signer.
 */
async function writeMute(deps: ApiDeps, call: Call, type: MessageType, message: string) {
  const fields = unwrapOrThrow(readObject(parseBody(rawBody(call.request)), "request body"));
  const fid = unwrapOrThrow(readFid(ownValue(fields, "fid"), "fid"));
  if (!deps.publish.muteLinks) {
    const muted = unwrapOrThrow(readFid(ownValue(fields, "muted_fid"), "muted_fid"));
    await writePrivateMute(deps, call, { fid, muted, isMuted: type === ADD });
    return done(`${message} in private`);
  }
  if (!keyCallerOf(call.request).scopes.includes("write")) throw missingScope("write");
  const writer = await deps.signers.findWriter(actorOf(call.request), fid, type);
  if (!writer) {
    throw new ApiError("forbidden", "no approved signer of this owner may write this for fid", {
      code: "signer_not_approved",
    });
  }
  await executeWriteBy(deps, call, {
    fields,
    signerUuid: writer.signer.signerUuid,
    type,
    compose: (request) => composeLink(type, "mute", "muted_fid", request),
  });
  return done(`${message} in public, by a message of the protocol`);
}

async function writePrivateMute(
  { moderation, reads: { clock } }: ApiDeps,
  { request }: Call,
  { fid, muted, isMuted }: { readonly fid: number; readonly muted: number; readonly isMuted: boolean },
): Promise<void> {
  const { ownerFid } = keyCallerOf(request);
  // The log does not contain the muted user, because a mute is private.
  const entries = moderationEntries(actorOf(request), isMuted ? "mute.add" : "mute.remove", [fid], clock);
  const mute = { ownerFid, fid, mutedFid: muted, nowSecs: nowSecs(clock) };
  if (!isMuted) await moderation.unmute(ownerFid, fid, muted, entries);
  else if (muted === fid) throw new ApiError("badRequest", "muted_fid must not be fid");
  else if (!(await moderation.mute(mute, entries)))
    throw new ApiError(
      "conflict",
      `a user mutes at most ${MODERATION_BOUNDS.mutesOfUser} others in one app, and its users ${MODERATION_BOUNDS.mutes} in all`,
    );
}
