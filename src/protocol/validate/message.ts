import { CHANNEL_ID_BYTES, MemberState, stateAfter } from "../channels/slots.ts";
import type { SignedMessage } from "../message/signed-message.ts";
import { invalid, type Rejection } from "../rejection.ts";
import { toFarcasterSecs } from "../time.ts";
import {
  CastingMode,
  type ChannelMemberBody,
  ChannelModerateAction,
  type ChannelModerateBody,
  type ChannelPinBody,
  type ChannelUpdateBody,
  type FrameActionBody,
  type LendStorageBody,
  type LinkBody,
  type LinkCompactStateBody,
  MembershipMode,
  MessageType,
  type ReactionBody,
  ReactionType,
  StorageUnitType,
  VerificationProtocol,
} from "../wire/generated/message.ts";
import { validateCastAdd, validateCastRemove } from "./cast.ts";
import { validateKeyAdd, validateKeyRemove, verifyKeyRequest } from "./chain/gasless-key.ts";
import { type ValidationContext, validateEnvelope } from "./envelope.ts";
import { checkCastHash, checkCastId, checkFid, checkUrl, utf8Length } from "./fields.ts";
import { validateUserData } from "./user-data.ts";
import { validateUsernameProof } from "./username-proof.ts";
import {
  hasEthClaim,
  validateVerificationAdd,
  validateVerificationRemove,
  verifyEthClaim,
} from "./verification.ts";

/**
 * Applies every rule that depends only on the message, in the order of the reference node: size, network, hash, signature,
 * time, body. Returns undefined for a valid message. `requirements.ts` lists what also depends on the state or a chain. The
 * ingest engine checks the fid's registration, the signer, and the custody address of gasless keys.
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
 * Reports whether checking a message of valid form costs more than a look-up: the recovery of an Ethereum signature, about a
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

/** Recovers the signer of the claim or key request of a message of valid form, if the message itself proves it. */
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
    case MessageType.MESSAGE_TYPE_CHANNEL_UPDATE:
      return body?.$case === "channelUpdateBody" ? validateChannelUpdate(body.value) : wrongBody();
    case MessageType.MESSAGE_TYPE_CHANNEL_MEMBER:
      return body?.$case === "channelMemberBody" ? validateChannelMember(body.value) : wrongBody();
    case MessageType.MESSAGE_TYPE_CHANNEL_PIN:
      return body?.$case === "channelPinBody" ? validateChannelPin(body.value) : wrongBody();
    case MessageType.MESSAGE_TYPE_CHANNEL_MODERATE:
      return body?.$case === "channelModerateBody" ? validateChannelModerate(body.value) : wrongBody();
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

const MAX_LINK_TYPE_BYTES = 8;

/** Validates adding or removing a link. The type is free text. `display_timestamp` is not checked. */
function validateLink(body: LinkBody): Rejection | undefined {
  return checkLinkType(body.type) ?? checkFid(body.target?.value ?? 0, "target_fid");
}

/** Validates a compact link state. Its list may repeat fids, because the node treats it as a set. */
function validateLinkCompactState(body: LinkCompactStateBody): Rejection | undefined {
  const rejection = checkLinkType(body.type);
  if (rejection) return rejection;
  if (body.targetFids.length === 0) return invalid("target_fids is empty");
  return body.targetFids.includes(0) ? invalid("target_fids holds 0") : undefined;
}

function checkLinkType(type: string): Rejection | undefined {
  const length = utf8Length(type);
  return length >= 1 && length <= MAX_LINK_TYPE_BYTES
    ? undefined
    : invalid(`link type must be 1 to ${MAX_LINK_TYPE_BYTES} bytes`);
}

/**
 * Validates adding or removing a reaction. The reference node accepts type NONE; this node refuses it, because no response
 * could present it.
 */
function validateReaction({ type, target }: ReactionBody): Rejection | undefined {
  if (type !== ReactionType.REACTION_TYPE_LIKE && type !== ReactionType.REACTION_TYPE_RECAST) {
    return invalid("reaction type is unknown");
  }
  switch (target?.$case) {
    case "targetCastId":
      return checkCastId(target.value, "target");
    case "targetUrl":
      return checkUrl(target.value, "target_url");
    default:
      return invalid("reaction has no target");
  }
}

const MAX_LENT_UNITS = 5000;
const MAX_AGE_SECS = 600;

/**
 * Validates a storage lend. `timestamp` is the message's, in Farcaster seconds. A lend that a client submits must be recent:
 * the revocation of an earlier lend (0 units) leaves no row, so nothing else would prevent the old lend from being replayed.
 */
function validateLendStorage(
  body: LendStorageBody,
  timestamp: number,
  ctx: Pick<ValidationContext, "nowUnixSecs" | "isHistory">,
): Rejection | undefined {
  if (!ctx.isHistory && timestamp < toFarcasterSecs(ctx.nowUnixSecs) - MAX_AGE_SECS) {
    return invalid(`timestamp of a lend is more than ${MAX_AGE_SECS} seconds in the past`);
  }
  if (StorageUnitType[body.unitType] === undefined) return invalid("storage unit type is unknown");
  if (body.numUnits > MAX_LENT_UNITS) return invalid(`more than ${MAX_LENT_UNITS} units`);
  return checkFid(body.toFid, "to_fid");
}

const MAX_BUTTON = 5;
const MAX_URL_BYTES = 1024;

/** The optional fields with their limits in bytes. */
const OPTIONAL = [
  ["inputText", "input_text", 256],
  ["state", "state", 4096],
  ["transactionId", "transaction_id", 256],
  ["address", "address", 64],
] as const;

/** Validates a user's action in a frame. It is signed for the frame's server and never stored. */
function validateFrameAction(body: FrameActionBody): Rejection | undefined {
  if (body.buttonIndex > MAX_BUTTON) return invalid(`button_index is above ${MAX_BUTTON}`);
  if (body.url.length < 1 || body.url.length > MAX_URL_BYTES)
    return invalid(`url must be 1 to ${MAX_URL_BYTES} bytes`);
  for (const [field, name, maxBytes] of OPTIONAL)
    if (body[field].length > maxBytes) return invalid(`${name} is longer than ${maxBytes} bytes`);
  return body.castId && checkCastId(body.castId, "cast_id");
}

const MAX_FID = 0xffff_ffff;

/** Validates a channel update. Texts have no limit of their own: the limit of the data applies. */
function validateChannelUpdate(body: ChannelUpdateBody): Rejection | undefined {
  const { castingMode, membershipMode } = body;
  if (castingMode !== undefined && CastingMode[castingMode] === undefined)
    return invalid("casting_mode is unknown");
  if (membershipMode !== undefined && MembershipMode[membershipMode] === undefined)
    return invalid("membership_mode is unknown");
  return checkChannelId(body);
}

function validateChannelMember(body: ChannelMemberBody): Rejection | undefined {
  if (body.fid > MAX_FID) return invalid(`fid is above ${MAX_FID}`);
  const isAction = (stateAfter(body.action) ?? MemberState.None) !== MemberState.None;
  return (
    checkChannelId(body) ?? checkFid(body.fid, "fid") ?? (isAction ? undefined : invalid("action is unknown"))
  );
}

/** Validates a channel pin. An empty hash unpins. Does not check whether the cast exists. */
function validateChannelPin(body: ChannelPinBody): Rejection | undefined {
  return (
    checkChannelId(body) ??
    (body.castHash.length === 0 ? undefined : checkCastHash(body.castHash, "cast_hash"))
  );
}

function validateChannelModerate(body: ChannelModerateBody): Rejection | undefined {
  const { CHANNEL_MODERATE_ACTION_HIDE, CHANNEL_MODERATE_ACTION_UNHIDE } = ChannelModerateAction;
  const isAction =
    body.action === CHANNEL_MODERATE_ACTION_HIDE || body.action === CHANNEL_MODERATE_ACTION_UNHIDE;
  return (
    checkChannelId(body) ??
    checkCastHash(body.castHash, "cast_hash") ??
    (isAction ? undefined : invalid("action is unknown"))
  );
}

function checkChannelId({ channelId }: { readonly channelId: Uint8Array }): Rejection | undefined {
  return channelId.length === CHANNEL_ID_BYTES
    ? undefined
    : invalid(`channel_id must be ${CHANNEL_ID_BYTES} bytes`);
}
