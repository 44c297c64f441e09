import { invalid, type Rejection } from "../rejection.ts";
import type { SignedMessage } from "../signed-message.ts";
import { MessageType, VerificationProtocol } from "../wire/generated/message.ts";
import { validateCastAdd, validateCastRemove } from "./cast.ts";
import { type ValidationContext, validateEnvelope } from "./envelope.ts";
import { checkFid } from "./fields.ts";
import { validateFrameAction } from "./frame-action.ts";
import { validateKeyAdd, validateKeyRemove, verifyKeyRequest } from "./gasless-key.ts";
import { validateLink, validateLinkCompactState } from "./link.ts";
import { validateReaction } from "./reaction.ts";
import { validateLendStorage } from "./storage-lend.ts";
import { validateUserData } from "./user-data.ts";
import { validateUsernameProof } from "./username-proof.ts";
import {
  hasEthClaim,
  validateVerificationAdd,
  validateVerificationRemove,
  verifyEthClaim,
} from "./verification.ts";

/**
 * Applies every rule that depends on the message alone, in the order of the reference node: size, network, hash,
 * signature, time, body. Returns undefined for a valid message. `requirements.ts` lists what also depends on the
 * state or a chain. The ingest engine checks the fid's registration, the signer, and the custody address of gasless
 * keys.
 */
export function validateMessage(message: SignedMessage, ctx: ValidationContext): Rejection | undefined {
  return validateForm(message, ctx) ?? verifyClaim(message);
}

/**
 * The cheap part of `validateMessage`: everything except the recovery of Ethereum signatures of claims and key
 * requests.
 */
export function validateForm(message: SignedMessage, ctx: ValidationContext): Rejection | undefined {
  return validateEnvelope(message, ctx) ?? checkFid(message.data.fid, "fid") ?? validateBody(message, ctx);
}

/**
 * Whether checking a message of valid form costs more than a look-up: the recovery of an Ethereum signature, about a
 * millisecond, or a call to a chain.
 */
export function isCostly({ data: { body } }: SignedMessage): boolean {
  switch (body?.$case) {
    case "verificationAddBody":
      return body.value.protocol === VerificationProtocol.VERIFICATION_PROTOCOL_ETHEREUM;
    case "usernameProofBody":
    case "keyAddBody":
    case "keyRemoveBody":
      return true;
    default:
      return false;
  }
}

/** Recovers the signer of the claim or key request of a message of valid form, if the message alone proves it. */
export function verifyClaim({ data }: SignedMessage): Rejection | undefined {
  const { body } = data;
  if (body?.$case === "keyAddBody") return verifyKeyRequest(body.value);
  return body?.$case === "verificationAddBody" && hasEthClaim(body.value)
    ? verifyEthClaim(body.value, data)
    : undefined;
}

/** Applies the rules of the message type. The body must belong to the type. */
function validateBody(message: SignedMessage, ctx: ValidationContext): Rejection | undefined {
  const { data } = message;
  const { type, body, timestamp } = data;
  switch (type) {
    case MessageType.MESSAGE_TYPE_CAST_ADD:
      return body?.$case === "castAddBody" ? validateCastAdd(body.value, timestamp) : wrongBody();
    case MessageType.MESSAGE_TYPE_CAST_REMOVE:
      return body?.$case === "castRemoveBody" ? validateCastRemove(body.value) : wrongBody();
    case MessageType.MESSAGE_TYPE_REACTION_ADD:
    case MessageType.MESSAGE_TYPE_REACTION_REMOVE:
      return body?.$case === "reactionBody" ? validateReaction(body.value) : wrongBody();
    case MessageType.MESSAGE_TYPE_LINK_ADD:
    case MessageType.MESSAGE_TYPE_LINK_REMOVE:
      return body?.$case === "linkBody" ? validateLink(body.value) : wrongBody();
    case MessageType.MESSAGE_TYPE_LINK_COMPACT_STATE:
      return body?.$case === "linkCompactStateBody" ? validateLinkCompactState(body.value) : wrongBody();
    case MessageType.MESSAGE_TYPE_VERIFICATION_ADD:
      return body?.$case === "verificationAddBody" ? validateVerificationAdd(body.value, data) : wrongBody();
    case MessageType.MESSAGE_TYPE_VERIFICATION_REMOVE:
      return body?.$case === "verificationRemoveBody" ? validateVerificationRemove(body.value) : wrongBody();
    case MessageType.MESSAGE_TYPE_USER_DATA_ADD:
      return body?.$case === "userDataBody" ? validateUserData(body.value) : wrongBody();
    case MessageType.MESSAGE_TYPE_USERNAME_PROOF:
      return body?.$case === "usernameProofBody" ? validateUsernameProof(body.value, data) : wrongBody();
    case MessageType.MESSAGE_TYPE_LEND_STORAGE:
      return body?.$case === "lendStorageBody"
        ? validateLendStorage(body.value, timestamp, ctx)
        : wrongBody();
    case MessageType.MESSAGE_TYPE_KEY_ADD:
      return body?.$case === "keyAddBody" ? validateKeyAdd(body.value, timestamp) : wrongBody();
    case MessageType.MESSAGE_TYPE_KEY_REMOVE:
      return body?.$case === "keyRemoveBody" ? validateKeyRemove(body.value, message) : wrongBody();
    case MessageType.MESSAGE_TYPE_FRAME_ACTION:
      if (!ctx.acceptsFrameActions) return invalid("frame actions are not stored");
      return body?.$case === "frameActionBody" ? validateFrameAction(body.value) : wrongBody();
    default:
      return invalid("message type is unknown");
  }
}

function wrongBody(): Rejection {
  return invalid("body does not belong to the message type");
}
