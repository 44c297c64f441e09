import { Type } from "@sinclair/typebox";
import { type AnyElysia, Elysia } from "elysia";
import { parseBody, rawBody } from "../../../http/body.ts";
import { ApiError } from "../../../http/errors.ts";
import { ownValue, readObject } from "../../../management/fields.ts";
import { MessageType } from "../../../protocol/wire/generated/message.ts";
import type { SignerService } from "../../../signers/signer-service.ts";
import { readFid } from "../../../writes/compose/read-body.ts";
import { Fid } from "../../shared/schemas.ts";
import { composeLink } from "./link-routes.ts";
import { actorOf, executeWriteBy, type ManagedWriteDeps, orThrow } from "./managed-write.ts";
import { done, OperationResponse, writeOperation } from "./schemas.ts";
import type { WriteContext } from "./write.ts";

export interface MuteRouteDeps extends ManagedWriteDeps {
  readonly signers: Pick<SignerService, "lookup" | "findWriter">;
  /** `writes.mute_links`. */
  readonly muteLinks: boolean;
}

const MuteRequest = Type.Object({ fid: Fid, muted_fid: Fid });

/** Mutes as links of the protocol, which are public, where the operator allows them. They name a user instead of a signer. */
export function muteRoutes(deps: MuteRouteDeps): AnyElysia {
  async function mute(context: WriteContext, type: MessageType, message: string) {
    if (!deps.muteLinks) throw new ApiError("notImplemented", MUTES_OFF);
    const fields = orThrow(readObject(parseBody(rawBody(context.request)), "request body"));
    const fid = orThrow(readFid(ownValue(fields, "fid"), "fid"));
    await executeWriteBy(context, deps, {
      fields,
      signerUuid: await signerOf(context.request, fid, type),
      types: [type],
      compose: (request) => composeLink(type, "mute", "muted_fid", request),
    });
    return done(message);
  }

  /** An approved signer of the caller for a user. */
  async function signerOf(request: Request, fid: number, type: MessageType): Promise<string> {
    const found = await deps.signers.findWriter(actorOf(request), fid, type);
    if (!found) {
      throw new ApiError("forbidden", "no approved signer of this owner may write this for fid", {
        code: "signer_not_approved",
      });
    }
    return found.signer.signerUuid;
  }

  return new Elysia({ name: "publish-mutes" })
    .post(
      "/mute",
      (context) => mute(context, MessageType.MESSAGE_TYPE_LINK_ADD, "the user is muted"),
      writeOperation({
        operationId: "publishMute",
        summary: "Mute a user",
        description: `${MUTE_TEXT} Any approved signer of the owner for \`fid\` signs it.`,
        tags: ["Blocks"],
        body: MuteRequest,
        response: OperationResponse,
        errors: ["notFound"],
      }),
    )
    .delete(
      "/mute",
      (context) => mute(context, MessageType.MESSAGE_TYPE_LINK_REMOVE, "the user is not muted"),
      writeOperation({
        operationId: "deleteMute",
        summary: "Unmute a user",
        description: MUTE_TEXT,
        tags: ["Blocks"],
        body: MuteRequest,
        response: OperationResponse,
        errors: ["notFound"],
      }),
    );
}

const MUTES_OFF =
  "a mute would be public for ever as a message of the protocol; the operator has not allowed it";
const MUTE_TEXT =
  "501 unless the operator sets `writes.mute_links`: the protocol has no private mutes, so a mute is a public link.";
