import { slotOf } from "../../../protocol/message/merge-rules.ts";
import { decodeMessage, type SignedMessage } from "../../../protocol/message/signed-message.ts";
import { toUnixSecs } from "../../../protocol/time.ts";
import {
  CastAddBody,
  type FarcasterNetwork,
  HashScheme,
  type MessageData,
  MessageType,
  SignatureScheme,
} from "../../../protocol/wire/generated/message.ts";
import { type MessageColumns, type SplitMessage, storedLinkType, type TypedColumns } from "./columns.ts";
import { encodesTo } from "./encode-data.ts";
import { MessageTag } from "./fields.ts";
import { readColumns } from "./read-data.ts";
import { WireReader } from "./wire.ts";

/**
 * Splits a valid message into the values of its columns and its envelope. Encodes the columns and compares the result to
 * decide whether the envelope needs the signed bytes, so the stored form always reproduces them. `network` is that of the
 * index.
 */
export function splitMessage(message: SignedMessage, network: FarcasterNetwork): SplitMessage {
  const { dataBytes, hash, signature, signer } = message;
  const columns = columnsOf(message);
  const isRebuilt = columns.table !== "messages" && encodesTo(columns, network, dataBytes);
  return { columns, envelope: { signer, signature, data: isRebuilt ? null : dataBytes }, hash };
}

/** Returns the values of the columns of a valid message. */
export function columnsOf(message: SignedMessage): MessageColumns {
  const typed = readColumns(message.dataBytes) ?? typedColumnsOf(message.data);
  if (typed) return typed;
  const { fid, timestamp } = message.data;
  return { table: "messages", fid, timestamp, ...slotOf(message) };
}

function typedColumnsOf({ type, fid, timestamp, body }: MessageData): TypedColumns | undefined {
  const head = { fid, timestamp: toUnixSecs(timestamp) };
  switch (body?.$case) {
    case "castAddBody": {
      const { text, parent } = body.value;
      const cast = parent?.$case === "parentCastId" ? parent.value : undefined;
      const parentUrl = parent?.$case === "parentUrl" ? parent.value : null;
      const rest = CastAddBody.encode({ ...body.value, text: "", parent: undefined }).finish();
      return {
        table: "casts",
        ...head,
        text,
        parentFid: cast?.fid ?? null,
        parentHash: cast?.hash ?? null,
        parentUrl,
        rest: rest.length === 0 ? null : rest,
      };
    }
    case "reactionBody": {
      if (type !== MessageType.MESSAGE_TYPE_REACTION_ADD) return undefined;
      const { target } = body.value;
      const cast = target?.$case === "targetCastId" ? target.value : undefined;
      const targetUrl = target?.$case === "targetUrl" ? target.value : null;
      return {
        table: "reactions",
        ...head,
        type: body.value.type,
        targetFid: cast?.fid ?? 0,
        targetHash: cast?.hash ?? null,
        targetUrl,
      };
    }
    case "linkBody": {
      if (type !== MessageType.MESSAGE_TYPE_LINK_ADD) return undefined;
      const { target, displayTimestamp } = body.value;
      const displayedAt = displayTimestamp === undefined ? null : toUnixSecs(displayTimestamp);
      return {
        table: "links",
        ...head,
        type: storedLinkType(body.value.type),
        targetFid: target?.value ?? 0,
        displayedAt,
      };
    }
    case "userDataBody":
      return { table: "user_data", ...head, type: body.value.type, value: body.value.value };
    default:
      return undefined;
  }
}

// Reading is synchronous, so all calls share one reader.
const reader = new WireReader();

/**
 * Splits a valid message in wire form, without decoding it where `readColumns` can read it. Blobs of the result are views of
 * `bytes`. The result equals that of `splitMessage`; neither checks the hash.
 *
 * @throws Error when the bytes are not a message.
 */
export function splitEncoded(bytes: Uint8Array, network: FarcasterNetwork): SplitMessage {
  const envelope = readEnvelope(bytes);
  const columns = envelope && readColumns(envelope.dataBytes);
  if (!envelope || !columns) return splitDecoded(bytes, network);
  const { hash, signature, signer, dataBytes } = envelope;
  const data = encodesTo(columns, network, dataBytes) ? null : dataBytes;
  return { columns, envelope: { signer, signature, data }, hash };
}

function splitDecoded(bytes: Uint8Array, network: FarcasterNetwork): SplitMessage {
  const message = decodeMessage(bytes);
  if (!message.ok) throw new Error(`message is unreadable: ${message.error.reason}`);
  return splitMessage(message.value, network);
}

/** Reads the form that `encodeMessage` produces; undefined for any other. */
function readEnvelope(bytes: Uint8Array) {
  reader.reset(bytes);
  const hash = readBytes(MessageTag.Hash);
  const hashScheme = reader.uint32(MessageTag.HashScheme);
  const signature = readBytes(MessageTag.Signature);
  const signatureScheme = reader.uint32(MessageTag.SignatureScheme);
  const signer = readBytes(MessageTag.Signer);
  const dataBytes = readBytes(MessageTag.DataBytes);
  const isUsual =
    !reader.failed &&
    reader.left === 0 &&
    hashScheme === HashScheme.HASH_SCHEME_BLAKE3 &&
    signatureScheme === SignatureScheme.SIGNATURE_SCHEME_ED25519;
  return isUsual ? { hash, signature, signer, dataBytes } : undefined;
}

function readBytes(tag: number): Uint8Array {
  if (reader.take(tag)) return reader.bytes();
  reader.failed = true;
  return new Uint8Array();
}
