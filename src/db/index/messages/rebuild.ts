import { decodeMessageData } from "../../../protocol/message-data.ts";
import { messageHash } from "../../../protocol/message-hash.ts";
import type { SignedMessage } from "../../../protocol/signed-message.ts";
import {
  type FarcasterNetwork,
  HashScheme,
  Message,
  type MessageData,
  SignatureScheme,
} from "../../../protocol/wire/generated/message.ts";
import type { MessageColumns, MessageEnvelope } from "./columns.ts";
import { encodeData } from "./encode-data.ts";
import { messageDataOf } from "./message-data-of.ts";

/** Returns the signed bytes of a message: the data that its hash covers. */
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
 * Rebuilds a stored message. `hash` saves computing it where the row has it.
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

/** Rebuilds a stored message in the wire form of `encodeMessage`. `hash` saves computing it where the row has it. */
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
