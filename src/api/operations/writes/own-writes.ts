import { Type } from "@sinclair/typebox";
import type { SignedRequest } from "../../../auth/signed-routes.ts";
import { ApiError } from "../../../http/errors.ts";
import { jsonBodyDecoder } from "../../../http/request/body.ts";
import type { Result } from "../../../lib/result.ts";
import type { JsonObject } from "../../../management/fields.ts";
import type { Refusal } from "../../../management/refusal.ts";
import { MessageType } from "../../../protocol/wire/generated/message.ts";
import { nowSecs } from "../../../runtime/clock.ts";
import { permits } from "../../../signers/permissions.ts";
import type { StoredSigner } from "../../../signers/store/signer-store.ts";
import { composeChannelFollow } from "../../../writes/compose/channel-follow.ts";
import { channelLookups } from "../../../writes/compose/index-lookups.ts";
import { composeVerification } from "../../../writes/compose/verification.ts";
import type { MessageOutcome } from "../../../writes/outcome.ts";
import type { UnsignedBody } from "../../../writes/rpc.ts";
import type { ApiDeps } from "../../deps.ts";
import { Hash, nullable, object } from "../../dialects/fields.ts";
import { unwrapOrThrow } from "../../respond.ts";
import { ID_ONLY_BYTES, topic } from "../../topic.ts";
import { castCompositions } from "./casts.ts";
import { errorOfWrite, WRITES_OFF } from "./write.ts";

/**
 * Writes that a user requests with the custody address, for the console. They are signed by any managed signer of the user that may write
 * such messages, whichever app owns it.
 */

const { signed } = topic({ surface: "native" });

const OwnWrite = object(
  {
    message: nullable(Hash),
    state: Type.Union([Type.Literal("merged"), Type.Literal("queued"), Type.Literal("unchanged")], {
      description: "`queued`: on its way to the network. `unchanged`: it was so before",
    }),
  },
  { $id: "OwnWrite" },
);

const FollowRequest = object({
  channel_id: Type.String({ description: "Id, URL, or the id of the protocol in hex" }),
  following: Type.Boolean(),
});
const VerifyRequest = object({
  address: Type.String({ description: "The address to verify" }),
  block_hash: Type.String({ description: "The hash that the claim names" }),
  eth_signature: Type.String({ description: "The address's signature of the protocol's claim" }),
});
const SignerCastRequest = object({
  signer_uuid: Type.String({ minLength: 1, maxLength: 64 }),
  text: Type.String({ minLength: 1, maxLength: 320 }),
});

const readCast = jsonBodyDecoder(SignerCastRequest);
const readFollow = jsonBodyDecoder(FollowRequest);
const readVerify = jsonBodyDecoder(VerifyRequest);

const NEEDS_SIGNER =
  "A managed signer of this node that the user has approved signs the message; without one that may, it is 409 `no_signer`.";
const errors = ["notFound", "conflict", "badGateway"] as const;
const WHEN_OFF = "not implemented: managed signers need signers.encryption_key";

/** @throws ApiError if none of it is in the network, and none will be */
async function writeOwn(
  deps: Pick<ApiDeps, "signers" | "writes">,
  request: SignedRequest,
  route: string,
  { type, compose }: { readonly type: MessageType; readonly compose: () => Result<UnsignedBody, Refusal> },
) {
  if (!deps.writes) throw new ApiError("notImplemented", WRITES_OFF);
  const body = unwrapOrThrow(compose());
  const found = await deps.signers.findOwn(actorOf(request), type);
  if (!found) throw new ApiError("conflict", NO_SIGNER, { code: "no_signer" });
  return submitBy(deps, request, route, { signer: found.signer, bodies: [body] });
}

/** @throws ApiError if none of it is in the network, and none will be */
async function submitBy(
  { writes }: Pick<ApiDeps, "writes">,
  { requestId, address }: SignedRequest,
  route: string,
  { signer, bodies }: { readonly signer: StoredSigner; readonly bodies: readonly (UnsignedBody | null)[] },
) {
  if (!writes) throw new ApiError("notImplemented", WRITES_OFF);
  const { signerUuid, ownerFid } = signer;
  const reply = await writes.submit({
    owner: { fid: ownerFid, apiKeyId: "", writesPerMinute: null },
    route,
    idem: null,
    signerUuid,
    content: { bodies },
    requestId,
    address,
  });
  if (!reply.ok) throw errorOfWrite(reply.refusal);
  return presentOutcome(reply.outcomes[0]);
}

const actorOf = ({ fid, apiKeyId, requestId, address }: SignedRequest) => ({
  ownerFid: fid,
  apiKeyId,
  requestId,
  address,
});

const NO_SIGNER =
  "no managed signer of this node that the user has approved may write this: approve one of an app, or import a key";

function presentOutcome(outcome: MessageOutcome | undefined) {
  const { hash = "", state } = outcome ?? {};
  const shown = state === "queued" || state === "unchanged" ? state : ("merged" as const);
  return { message: hash === "" ? null : `0x${hash}`, state: shown };
}

export const ownWriteOperations = [
  signed({
    id: "castByManagedSigner",
    method: "POST",
    path: "/managed_signer/cast",
    op: "signer.cast",
    maxBodyBytes: ID_ONLY_BYTES,
    command: {
      usage: "signer cast <signer_uuid>",
      help: "publish a cast by a managed signer, to try it",
      flags: { text: { type: "text", isRequired: true, help: "the text of the cast" } },
    },
    tag: "Managed signers",
    summary: "Publish a cast by a managed signer, to try it",
    description: "In the name of its user. Apps publish with an API key.",
    body: SignerCastRequest,
    response: OwnWrite,
    errors,
    notImplemented: { when: "Without `writes.enabled` or `signers.encryption_key`.", message: WHEN_OFF },
    async run(deps, request) {
      const { signer_uuid, text } = readCast(request.rawBody);
      const { signer, state } = unwrapOrThrow(await deps.signers.lookup(actorOf(request), signer_uuid));
      if (state.status !== "approved" || state.fid === null)
        throw new ApiError("forbidden", "signer is not approved", { code: "signer_not_approved" });
      const { type, compose } = castCompositions.publishCast;
      if (!permits(signer.permissions, type))
        throw new ApiError("forbidden", "the signer is not permitted this write", { code: "out_of_scope" });
      const { db, clock } = deps.reads;
      const write = { fields: { text }, fid: state.fid, db, nowSecs: nowSecs(clock), isStale: false };
      const bodies = unwrapOrThrow(db.snapshot(() => compose(write)));
      return submitBy(deps, request, "POST /managed_signer/cast", { signer, bodies });
    },
  }),
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
