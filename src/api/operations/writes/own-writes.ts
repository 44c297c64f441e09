import { Type } from "@sinclair/typebox";
import type { SignedRequest } from "../../../auth/signed-routes.ts";
import { ApiError } from "../../../http/errors.ts";
import { jsonBodyDecoder } from "../../../http/request/body.ts";
import type { Result } from "../../../lib/result.ts";
import type { JsonObject } from "../../../management/fields.ts";
import type { Refusal } from "../../../management/refusal.ts";
import { MessageType } from "../../../protocol/wire/generated/message.ts";
import { composeChannelFollow } from "../../../writes/compose/channel-follow.ts";
import { channelLookups } from "../../../writes/compose/index-lookups.ts";
import { composeVerification } from "../../../writes/compose/verification.ts";
import type { MessageOutcome } from "../../../writes/outcome.ts";
import type { UnsignedBody } from "../../../writes/rpc.ts";
import type { ApiDeps } from "../../deps.ts";
import { closed, Hash, nullable } from "../../dialects/fields.ts";
import { unwrapOrThrow } from "../../respond.ts";
import { ID_ONLY_BYTES, topic } from "../../topic.ts";
import { errorOfWrite, WRITES_OFF } from "./write.ts";

/**
 * Writes that a user asks for with the custody address, for the console. A managed signer of the user that may write such messages signs
 * them, whichever app owns it.
 */

const { signed } = topic({ surface: "native" });

const OwnWrite = Type.Object(
  {
    message: nullable(Hash),
    state: Type.Union([Type.Literal("merged"), Type.Literal("queued"), Type.Literal("unchanged")], {
      description: "`queued`: on its way into the network. `unchanged`: it was so before",
    }),
  },
  { ...closed, $id: "OwnWrite" },
);

const FollowRequest = Type.Object(
  {
    channel_id: Type.String({ description: "Id, URL, or the id of the protocol in hex" }),
    following: Type.Boolean(),
  },
  closed,
);
const VerifyRequest = Type.Object(
  {
    address: Type.String({ description: "The address to verify" }),
    block_hash: Type.String({ description: "The hash that the claim names" }),
    eth_signature: Type.String({ description: "The address's signature of the protocol's claim" }),
  },
  closed,
);
const readFollow = jsonBodyDecoder(FollowRequest);
const readVerify = jsonBodyDecoder(VerifyRequest);

const NEEDS_SIGNER =
  "A managed signer of this node that the user has approved signs the message; without one that may, it is 409 `no_signer`.";
const errors = ["notFound", "conflict", "badGateway"] as const;
const WHEN_OFF = "not implemented: managed signers need signers.encryption_key";

/** @throws ApiError when nothing of it is in the network, and nothing will be */
async function writeOwn(
  { signers, writes }: Pick<ApiDeps, "signers" | "writes">,
  { fid, apiKeyId, requestId, address }: SignedRequest,
  route: string,
  { type, compose }: { readonly type: MessageType; readonly compose: () => Result<UnsignedBody, Refusal> },
) {
  if (!writes) throw new ApiError("notImplemented", WRITES_OFF);
  const body = unwrapOrThrow(compose());
  const found = await signers.findOwn({ ownerFid: fid, apiKeyId, requestId, address }, type);
  if (!found) throw new ApiError("conflict", NO_SIGNER, { code: "no_signer" });
  const { signerUuid, ownerFid } = found.signer;
  const reply = await writes.submit({
    owner: { fid: ownerFid, apiKeyId: "", writesPerMinute: null },
    route,
    idem: null,
    signerUuid,
    content: { bodies: [body] },
    requestId,
    address,
  });
  if (!reply.ok) throw errorOfWrite(reply.refusal);
  return presentOutcome(reply.outcomes[0]);
}

const NO_SIGNER =
  "no managed signer of this node that the user has approved may write this: approve one of an app, or import a key";

function presentOutcome(outcome: MessageOutcome | undefined) {
  const { hash = "", state } = outcome ?? {};
  const shown = state === "queued" || state === "unchanged" ? state : ("merged" as const);
  return { message: hash === "" ? null : `0x${hash}`, state: shown };
}

export const ownWriteOperations = [
  signed({
    id: "setChannelFollow",
    method: "PUT",
    path: "/user/channel/follow",
    op: "channel.follow",
    command: {
      usage: "channel follow <channel_id>",
      help: "follow or unfollow a registered channel, by a managed signer of the node",
      flags: { following: { type: "boolean", help: "follow it (the default)", offHelp: "unfollow it" } },
    },
    tag: "Channels",
    summary: "Follow or unfollow a registered channel",
    description: `A follow is a like of the URI of the channel's token. ${NEEDS_SIGNER}`,
    maxBodyBytes: ID_ONLY_BYTES,
    body: FollowRequest,
    response: OwnWrite,
    errors,
    notImplemented: {
      when: "Without a registrar, `writes.enabled` or `signers.encryption_key`.",
      message: WHEN_OFF,
    },
    run(deps, request) {
      const { channel_id, following } = readFollow(request.rawBody);
      const type = following
        ? MessageType.MESSAGE_TYPE_REACTION_ADD
        : MessageType.MESSAGE_TYPE_REACTION_REMOVE;
      return writeOwn(deps, request, "PUT /user/channel/follow", {
        type,
        compose() {
          const composed = composeChannelFollow(channelLookups(deps.reads.db), { channel_id } as JsonObject);
          return composed.ok
            ? { ok: true, value: { type, body: { $case: "reactionBody", value: composed.value } } }
            : composed;
        },
      });
    },
  }),
  signed({
    id: "verifyOwnAddress",
    method: "POST",
    path: "/user/address/verify",
    op: "address.verify",
    command: {
      usage: "address verify <address>",
      help: "verify an address of the fid, by a managed signer of the node",
      flags: {
        block_hash: { type: "text", isRequired: true, help: "the hash that the claim names" },
        eth_signature: { type: "text", isRequired: true, help: "the address's signature of the claim" },
      },
    },
    tag: "Users",
    summary: "Verify an address of the user",
    description: `Ends the parking of channels that the address owns. ${NEEDS_SIGNER}`,
    maxBodyBytes: ID_ONLY_BYTES,
    body: VerifyRequest,
    response: OwnWrite,
    errors,
    notImplemented: { when: "Without `writes.enabled` or `signers.encryption_key`.", message: WHEN_OFF },
    run(deps, request) {
      const fields = readVerify(request.rawBody);
      const type = MessageType.MESSAGE_TYPE_VERIFICATION_ADD;
      return writeOwn(deps, request, "POST /user/address/verify", {
        type,
        compose() {
          const composed = composeVerification(fields as unknown as JsonObject);
          return composed.ok
            ? { ok: true, value: { type, body: { $case: "verificationAddBody", value: composed.value } } }
            : composed;
        },
      });
    },
  }),
];
