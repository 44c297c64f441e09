import { messageHash } from "../../../protocol/message/message-hash.ts";
import { decodeMessageData, type SignedMessage } from "../../../protocol/message/signed-message.ts";
import { toFarcasterSecs } from "../../../protocol/time.ts";
import {
  type CastAddBody,
  type FarcasterNetwork,
  HashScheme,
  Message,
  type MessageData,
  MessageType,
  SignatureScheme,
} from "../../../protocol/wire/generated/message.ts";
import {
  type CastColumns,
  type LinkColumns,
  linkTypeOf,
  type MessageColumns,
  type MessageEnvelope,
  type ReactionColumns,
  type TypedColumns,
} from "./columns.ts";
import { encodeData } from "./encode-data.ts";
import { decodeRest } from "./fields.ts";

/** Returns the signed bytes of a message, which are the data that its hash covers. */
export function rebuildData(
  columns: MessageColumns,
  envelope: MessageEnvelope,
  network: FarcasterNetwork,
): Uint8Array {
  if (envelope.data !== null) return envelope.data;
  if (columns.table === "messages") throw new Error("a row of messages has no data");
  return encodeData(columns, network);
}

/**
 * Rebuilds a stored message. Pass `hash` where the row has it, so that it is not computed.
 *
 * @throws Error when the row is damaged.
 */
export function rebuildMessage(
  columns: MessageColumns,
  envelope: MessageEnvelope,
  network: FarcasterNetwork,
  hash?: Uint8Array,
): SignedMessage {
  const dataBytes = rebuildData(columns, envelope, network);
  return {
    data:
      envelope.data === null && columns.table !== "messages"
        ? messageDataOf(columns, network)
        : decodeStoredData(dataBytes),
    dataBytes,
    hash: hash ?? messageHash(dataBytes),
    hashScheme: HashScheme.HASH_SCHEME_BLAKE3,
    signature: envelope.signature,
    signatureScheme: SignatureScheme.SIGNATURE_SCHEME_ED25519,
    signer: envelope.signer,
  };
}

/**
 * Rebuilds a stored message in the wire form of `encodeMessage`. Pass `hash` where the row has it, so that it is not
 * computed.
 */
export function rebuildEncoded(
  columns: MessageColumns,
  envelope: MessageEnvelope,
  network: FarcasterNetwork,
  hash?: Uint8Array,
): Uint8Array {
  const dataBytes = rebuildData(columns, envelope, network);
  const message: Message = {
    data: undefined,
    hash: hash ?? messageHash(dataBytes),
    hashScheme: HashScheme.HASH_SCHEME_BLAKE3,
    signature: envelope.signature,
    signatureScheme: SignatureScheme.SIGNATURE_SCHEME_ED25519,
    signer: envelope.signer,
    dataBytes,
  };
  return Message.encode(message).finish();
}

function decodeStoredData(bytes: Uint8Array): MessageData {
  const data = decodeMessageData(bytes);
  if (!data.ok) throw new Error(`stored message is unreadable: ${data.error.reason}`);
  return data.value;
}

/** Builds the decoded data of a message from its columns. */
export function messageDataOf(columns: TypedColumns, network: FarcasterNetwork): MessageData {
  const { type, body } = bodyOf(columns);
  return { type, fid: columns.fid, timestamp: toFarcasterSecs(columns.timestamp), network, body };
}

function bodyOf(columns: TypedColumns): Pick<MessageData, "type" | "body"> {
  switch (columns.table) {
    case "casts":
      return {
        type: MessageType.MESSAGE_TYPE_CAST_ADD,
        body: {
          $case: "castAddBody",
          value: { ...decodeRest(columns.rest), text: columns.text, parent: parentOf(columns) },
        },
      };
    case "reactions":
      return {
        type: MessageType.MESSAGE_TYPE_REACTION_ADD,
        body: { $case: "reactionBody", value: { type: columns.type, target: targetOf(columns) } },
      };
    case "links":
      return { type: MessageType.MESSAGE_TYPE_LINK_ADD, body: { $case: "linkBody", value: linkOf(columns) } };
    case "user_data":
      return {
        type: MessageType.MESSAGE_TYPE_USER_DATA_ADD,
        body: { $case: "userDataBody", value: { type: columns.type, value: columns.value } },
      };
  }
}

function parentOf({ parentFid, parentHash, parentUrl }: CastColumns): CastAddBody["parent"] {
  if (parentHash !== null) return { $case: "parentCastId", value: { fid: parentFid ?? 0, hash: parentHash } };
  return parentUrl === null ? undefined : { $case: "parentUrl", value: parentUrl };
}

function targetOf({ targetFid, targetHash, targetUrl }: ReactionColumns) {
  if (targetHash !== null)
    return { $case: "targetCastId" as const, value: { fid: targetFid, hash: targetHash } };
  return targetUrl === null ? undefined : { $case: "targetUrl" as const, value: targetUrl };
}

function linkOf({ type, targetFid, displayedAt }: LinkColumns) {
  return {
    type: linkTypeOf(type),
    displayTimestamp: displayedAt === null ? undefined : toFarcasterSecs(displayedAt),
    target: { $case: "targetFid" as const, value: targetFid },
  };
}
